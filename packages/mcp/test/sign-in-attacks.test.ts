import { startFakeAuthorizationServer, startFakeMcpServer } from "@signalbox/testkit/mcp";
import { expect, it, onTestFinished } from "vitest";
import { call, everyTool, startServers } from "./harness.ts";

type AuthorizationOptions = NonNullable<Parameters<typeof startFakeAuthorizationServer>[0]>;
type McpOptions = Partial<Parameters<typeof startFakeMcpServer>[0]>;

async function startWorld(authorization: AuthorizationOptions = {}, mcp: McpOptions = {}) {
  const authority = await startFakeAuthorizationServer(authorization);
  const server = await startFakeMcpServer({
    authorizationServers: [authority.url],
    check: authority.check,
    ...mcp,
  });
  onTestFinished(() => Promise.all([authority.stop(), server.stop()]).then(() => {}));
  const servers = startServers({ web: { url: server.url } });
  return { authority, server, servers, start: (issuer?: string) => servers.signIn.start("web", issuer) };
}

it("asks for a confirmation of an authorization server on another host before it registers there", async () => {
  const { authority, start } = await startWorld({ host: "localhost" });
  await expect(start()).rejects.toMatchObject({ code: "foreign_issuer", issuer: authority.url });
  expect(authority.requests.map(({ path }) => path)).toEqual(["/.well-known/oauth-authorization-server"]);
  await expect(start("http://localhost:1")).rejects.toMatchObject({ code: "foreign_issuer" });
  expect(await start(authority.url)).toMatchObject({ issuer: authority.url });
});

it("rejects every authorization server except the configured one, even if it is confirmed", async () => {
  const { authority, server, servers, start } = await startWorld();
  servers.configure({ web: { url: server.url, oauth: { issuer: "https://login.example.org" } } });
  await expect(start(authority.url)).rejects.toMatchObject({ code: "foreign_issuer" });
});

it.each([
  ["an issuer that differs", { issuer: "https://login.example.org" }],
  ["a token endpoint without encryption", { token_endpoint: "http://192.0.2.7/token" }],
  ["a page that is no web address", { authorization_endpoint: "ftp://example.org/authorize" }],
  ["a registration endpoint with a password", { registration_endpoint: "https://a:b@example.org/register" }],
  ["no PKCE", { code_challenge_methods_supported: ["plain"] }],
])("rejects metadata with %s before it sends anything else", async (_, change) => {
  const { authority, start } = await startWorld({ metadata: (usual) => ({ ...usual, ...change }) });
  await expect(start()).rejects.toMatchObject({ code: "bad_metadata" });
  expect(authority.requests.map(({ method }) => method)).toEqual(["GET"]);
});

it("rejects metadata of more than 200 KB", async () => {
  const { start } = await startWorld({ metadata: (usual) => ({ ...usual, filler: "x".repeat(300_000) }) });
  await expect(start()).rejects.toMatchObject({ code: "bad_metadata" });
});

it("rejects metadata for another resource", async () => {
  const { start } = await startWorld(
    {},
    { metadata: (usual) => ({ ...usual, resource: "https://other.example.org/mcp" }) },
  );
  await expect(start()).rejects.toMatchObject({ code: "refused" });
});

it("fetches metadata of the server only from its own origin", async () => {
  const trap = await startFakeAuthorizationServer();
  onTestFinished(() => trap.stop());
  const { start } = await startWorld(
    {},
    { challenge: () => `Bearer resource_metadata="${trap.url}/internal"` },
  );
  await start();
  expect(trap.requests).toEqual([]);
});

it("sends requests to authorization servers through the fetch of the host, which refuses private addresses", async () => {
  const authority = await startFakeAuthorizationServer();
  const server = await startFakeMcpServer({ authorizationServers: [authority.url], check: authority.check });
  onTestFinished(() => Promise.all([authority.stop(), server.stop()]).then(() => {}));
  const asked: string[] = [];
  const servers = startServers(
    { web: { url: server.url } },
    {
      signIn: {
        async fetch(url) {
          asked.push(String(url));
          if (String(url).startsWith(authority.url)) throw new Error("not a host on the public internet");
          return fetch(url);
        },
      },
    },
  );
  await expect(servers.signIn.start("web")).rejects.toThrow("not a host on the public internet");
  expect(asked.some((url) => url.startsWith(authority.url))).toBe(true);
  expect(authority.requests).toEqual([]);
});

it("rejects a code that another authorization server sends, and one without its name", async () => {
  const { authority, servers, start } = await startWorld();
  for (const change of [
    (url: URL) => url.searchParams.set("iss", "https://evil.example.org"),
    (url: URL) => url.searchParams.delete("iss"),
  ]) {
    const back = await authority.approve((await start()).url);
    change(back);
    await expect(servers.signIn.finish(back)).rejects.toMatchObject({ code: "wrong_issuer" });
  }
  expect(authority.tokenRequests("authorization_code")).toBe(0);
});

it("accepts a state once, for ten minutes, and none that it did not create", async () => {
  const { authority, servers, start } = await startWorld();
  const back = await authority.approve((await start()).url);
  const forged = new URL(back);
  forged.searchParams.set("state", "forged");
  await expect(servers.signIn.finish(forged)).rejects.toMatchObject({ code: "unknown_state" });
  expect(await servers.signIn.finish(back)).toBe("web");
  await expect(servers.signIn.finish(back)).rejects.toMatchObject({ code: "unknown_state" });
  expect(authority.activeGrants()).toBe(1);
});

it("stops after three new tokens in a row that the server rejects, until a person signs in again", async () => {
  const { authority, server, servers, start } = await startWorld();
  const signIn = async (): Promise<void> => {
    await servers.signIn.finish(await authority.approve((await start()).url));
  };
  await signIn();
  const tools = await servers.tools(everyTool);
  server.answerAt("/mcp", () => new Response("", { status: 401 }));
  for (let attempt = 0; attempt < 10; attempt++) await call(tools, "mcp__web__whoami").catch(() => {});
  expect(authority.tokenRequests("refresh_token")).toBe(3);
  await expect(call(tools, "mcp__web__whoami")).rejects.toThrow(/rejected 3 new tokens in a row/);
});

it("rejects tokens that do not fit into a header", async () => {
  for (const token of ["a\r\nx-evil: 1", "x".repeat(100_000), ""]) {
    const { authority, servers, start } = await startWorld();
    const back = await authority.approve((await start()).url);
    authority.answerAt("/token", () => Response.json({ access_token: token, token_type: "Bearer" }));
    await expect(servers.signIn.finish(back)).rejects.toMatchObject({ code: "refused" });
    expect(await servers.signIn.status("web")).toEqual({ state: "signed_out" });
  }
});

it("keeps no more than 16 sign-ins that wait for a person", async () => {
  const { authority, servers, start } = await startWorld();
  const first = await start();
  for (let count = 0; count < 16; count++) await start();
  const back = await authority.approve(first.url);
  await expect(servers.signIn.finish(back)).rejects.toMatchObject({ code: "unknown_state" });
});
