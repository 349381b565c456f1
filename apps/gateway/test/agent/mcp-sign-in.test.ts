import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@signalbox/client";
import { startFakeAuthorizationServer, startFakeMcpServer } from "@signalbox/testkit/mcp";
import { expect, it, onTestFinished } from "vitest";
import { ask, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

/** Starts a gateway with an MCP server that asks for a sign-in at another port. */
async function openSignInWorld({ isAllowed = true } = {}) {
  const authority = await startFakeAuthorizationServer();
  const server = await startFakeMcpServer({ authorizationServers: [authority.url], check: authority.check });
  onTestFinished(() => Promise.all([authority.stop(), server.stop()]).then(() => {}));
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: OWNED,
      tools: { web: { allow: isAllowed ? [new URL(authority.url).host] : [] } },
      mcp: { servers: { notes: { url: server.url } } },
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["read", "mcp__notes__*"] } }],
      },
    }),
  );
  const started = await world.start();
  return { world, started, authority, server, client: createClient({ baseUrl: started.url, token: TOKEN }) };
}

it("signs in over the API and the callback, uses the tools, and keeps the tokens out of everything else", async () => {
  const { world, started, authority, client } = await openSignInWorld();
  world.script([{ text: "No tools." }]);
  await ask(started, "Who am I?");
  expect((await client.mcpServers())[0]).toMatchObject({ name: "notes", needsSignIn: true });

  const login = await client.mcpLogin("notes");
  if (!login.ok) throw new Error(login.message);
  const back = await authority.approve(login.url);
  expect(back.href).toContain(`${started.url}/oauth/mcp/callback?`);
  expect(await (await fetch(back)).text()).toContain("Signed in to notes.");
  expect((await fetch(back)).status).toBe(400);

  const file = join(world.home.dir, "secrets", "mcp", "notes.json");
  const { accessToken, refreshToken } = JSON.parse(readFileSync(file, "utf8"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // A model or a server that repeats a token gets it into nothing that is kept.
  const turns = [
    { toolCalls: [{ name: "mcp__notes__whoami", input: {} }] },
    { text: `It is ${accessToken}.` },
  ];
  world.script(() => turns.shift() ?? { text: "Done." });
  await ask(started, "Who am I now?");
  expect(JSON.stringify(modelRequests(world.anthropic).at(-1)?.messages)).toContain("scope: ");
  expect((await client.mcpServers())[0]).toMatchObject({ state: "ready", signIn: { state: "signed_in" } });
  const written = readdirSync(world.home.dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes("secrets"))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
  expect(written.includes(accessToken)).toBe(false);
  expect(written.includes(refreshToken)).toBe(false);

  expect(await client.mcpLogout("notes")).toEqual({ wasSignedIn: true, isRevoked: true });
  expect(authority.activeGrants()).toBe(0);
  expect(readdirSync(join(world.home.dir, "secrets", "mcp"))).toEqual([]);
});

it("gives no link to sign in where tokens that may only read can read the conversation", async () => {
  const { client } = await openSignInWorld();
  await client.send({ agent: "coder", conversation: "c1", text: "/mcp login notes" });
  const read = async () => (await client.history("c1"))?.messages.at(-1)?.text;
  await expect.poll(read).toContain("on the page MCP servers");
  const answer = await read();
  expect(answer).not.toContain("state=");
});

it("signs in and out by chat commands of the owner", async () => {
  const { world, started, authority, client } = await openSignInWorld();
  const answer = async (text: string): Promise<string> => {
    await ask(started, text);
    return said(world).at(-1) ?? "";
  };
  const page = /http:\S+\/authorize\S+/.exec(await answer("/mcp login notes"))?.[0] ?? "";
  await fetch(await authority.approve(page));
  expect(await answer("/mcp")).toContain("notes");
  expect((await client.mcpServers())[0]?.signIn?.state).toBe("signed_in");
  expect(await answer("/mcp logout notes")).toContain("Signed out of notes.");
});

it("refuses an authorization server at a private address that the operator did not allow", async () => {
  const { authority, client } = await openSignInWorld({ isAllowed: false });
  expect(await client.mcpLogin("notes")).toMatchObject({
    ok: false,
    code: "refused",
    message: expect.stringContaining("not a host on the public internet"),
  });
  expect(authority.requests).toEqual([]);
});
