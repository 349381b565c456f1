import { startFakeAuthorizationServer, startFakeMcpServer } from "@signalbox/testkit/mcp";
import { expect, it, onTestFinished } from "vitest";
import type { McpCredentials } from "../src/index.ts";
import { createMemoryCredentials } from "../src/sign-in/credentials.ts";
import { call, everyTool, startServers, text } from "./harness.ts";

type AuthorizationOptions = NonNullable<Parameters<typeof startFakeAuthorizationServer>[0]>;
type McpOptions = Partial<Parameters<typeof startFakeMcpServer>[0]>;

const REDIRECT = "http://127.0.0.1:4747/oauth/mcp/callback";

/** Starts a protected server, its authorization server and a client of both. */
async function startWorld(authorization: AuthorizationOptions = {}, mcp: McpOptions = {}) {
  const authority = await startFakeAuthorizationServer(authorization);
  const server = await startFakeMcpServer({
    authorizationServers: [authority.url],
    check: authority.check,
    ...mcp,
  });
  onTestFinished(() => Promise.all([authority.stop(), server.stop()]).then(() => {}));
  const store = createMemoryCredentials();
  let now = 1_000_000;
  const servers = startServers(
    { web: { url: server.url } },
    { signIn: { store, redirectUrl: () => REDIRECT }, now: () => now },
  );
  return {
    authority,
    server,
    servers,
    store,
    async signIn(confirmedIssuer?: string) {
      const { url } = await servers.signIn.start("web", confirmedIssuer);
      return servers.signIn.finish(await authority.approve(url));
    },
    advance(ms: number) {
      now += ms;
    },
    async whoami() {
      const tools = await servers.tools(everyTool);
      return text(await call(tools, "mcp__web__whoami"));
    },
    credentials: async () => (await store.get("web")) as McpCredentials | undefined,
  };
}

it("says that a server asks for a sign-in, and uses its tools after one without a pause", async () => {
  const world = await startWorld();
  expect(await world.servers.tools(everyTool)).toEqual([]);
  expect(world.servers.status()).toMatchObject([
    { state: "down", needsSignIn: true, notes: ["it asks for a sign-in"] },
  ]);
  expect(world.authority.requests).toEqual([]);
  expect(await world.signIn()).toBe("web");
  expect(await world.whoami()).toBe("scope: ");
  expect(world.servers.status()).toMatchObject([{ state: "ready", needsSignIn: false, notes: [] }]);
  expect(await world.servers.signIn.status("web")).toMatchObject({
    state: "signed_in",
    issuer: world.authority.url,
    canRefresh: true,
  });
});

it.each(["client_secret_basic", "client_secret_post"] as const)(
  "authenticates a registered client with %s when it exchanges, refreshes and revokes",
  async (authMethod) => {
    const world = await startWorld({ authMethod });
    await world.signIn();
    world.authority.expireAccessTokens();
    expect(await world.whoami()).toBe("scope: ");
    expect(world.authority.tokenRequests("refresh_token")).toBe(1);
    expect(await world.servers.signIn.signOut("web")).toEqual({ wasSignedIn: true, isRevoked: true });
    expect(world.authority.activeGrants()).toBe(0);
  },
);

it("refreshes an expired token once for concurrent calls, and keeps the rotated refresh token", async () => {
  const world = await startWorld();
  await world.signIn();
  const tools = await world.servers.tools(everyTool);
  const before = await world.credentials();
  world.authority.expireAccessTokens();
  const results = await Promise.all([1, 2, 3, 4].map(() => call(tools, "mcp__web__whoami")));
  expect(results.map(text)).toEqual(Array(4).fill("scope: "));
  expect(world.authority.tokenRequests("refresh_token")).toBe(1);
  world.authority.expireAccessTokens();
  expect(await world.whoami()).toBe("scope: ");
  const after = await world.credentials();
  expect(after?.refreshToken).not.toBe(before?.refreshToken);
  expect(world.authority.activeGrants()).toBe(1);
});

it("replaces a token before it expires, and uses it until then if that fails", async () => {
  const world = await startWorld({ lifetimeS: 600 });
  await world.signIn();
  world.advance(560_000);
  expect(await world.whoami()).toBe("scope: ");
  expect(world.authority.tokenRequests("refresh_token")).toBe(1);
  world.advance(560_000);
  world.authority.answerAt("/token", () => new Response("down", { status: 503 }));
  expect(await world.whoami()).toBe("scope: ");
});

it("keeps a sign-in while the authorization server is down, and ends it when the server revokes it", async () => {
  const world = await startWorld();
  await world.signIn();
  expect(await world.whoami()).toBe("scope: ");
  world.authority.expireAccessTokens();
  let isDown = true;
  world.authority.answerAt("/token", () =>
    isDown
      ? new Response("secret-of-the-response", { status: 503 })
      : Response.json({ error: "invalid_grant" }, { status: 400 }),
  );
  const failure = await world.whoami().catch((error: Error) => error.message);
  expect(failure).toBe("its sign-in could not be renewed: HTTP 503");
  expect(await world.servers.signIn.status("web")).toMatchObject({ state: "signed_in" });
  isDown = false;
  await expect(world.whoami()).rejects.toThrow("its sign-in has ended");
  expect(await world.servers.signIn.status("web")).toEqual({ state: "signed_out" });
  expect(await world.credentials()).toBeUndefined();
});

it("sends the tokens of one address to no other one", async () => {
  const world = await startWorld();
  await world.signIn();
  const other = await startFakeMcpServer({ authorizationServers: [], check: () => undefined });
  onTestFinished(() => other.stop());
  world.servers.configure({ web: { url: other.url } });
  expect(await world.servers.tools(everyTool)).toEqual([]);
  expect(other.requests.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
});

it("uses a client and an authorization server from the configuration, without registration", async () => {
  const world = await startWorld({ registers: false });
  world.servers.configure({ web: { url: world.server.url } });
  await expect(world.servers.signIn.start("web")).rejects.toThrow("dynamic client registration");
  world.servers.configure({
    web: {
      url: world.server.url,
      oauth: { clientId: "by-hand", issuer: world.authority.url, scope: "read write" },
    },
  });
  const { url } = await world.servers.signIn.start("web");
  expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
    client_id: "by-hand",
    scope: "read write",
    code_challenge_method: "S256",
    resource: world.server.url,
  });
  expect(world.authority.requests.some(({ path }) => path === "/register")).toBe(false);
});

it("asks for the scope that a call needs at the next sign-in", async () => {
  const world = await startWorld({}, { callScope: "notes:write" });
  await world.signIn();
  await expect(world.whoami()).rejects.toThrow("it asks for a sign-in with the scopes notes:write");
  await world.signIn();
  expect(await world.whoami()).toBe("scope: notes:write");
});

it("reads resources and prompts of a server", async () => {
  const world = await startWorld();
  await world.signIn();
  const tools = await world.servers.tools(everyTool);
  const read = async (name: string, args = {}) => text(await call(tools, `mcp__web__${name}`, args));
  expect(await read("list_resources")).toBe(
    'note://1 · first note · text/plain · A note.\n[more with cursor "page-2"]',
  );
  expect(await read("list_resource_templates")).toBe("note://{id} · a note");
  expect(await read("read_resource", { uri: "note://1" })).toBe("From note://1:\nthe text of the note");
  expect(await read("list_prompts")).toBe("greet(who)");
  expect(await read("get_prompt", { name: "greet", arguments: { who: "Anna" } })).toBe("[user]\nGreet Anna.");
});
