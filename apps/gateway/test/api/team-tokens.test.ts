import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import {
  demoConfig,
  ends,
  eventually,
  exampleConfig,
  inboxRows,
  openWorld,
  TOKEN,
  type World,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";
import { ask, json } from "../support/raw-requests.ts";

describe("a team's tokens", () => {
  it("are created, listed and revoked on the command line, and stand for members and owners", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const started = await world.start();
    const { url } = started;
    const run = (...args: string[]) => world.command(args);
    const added = await run("tokens", "add", "alice", "--json");
    const { token, role } = JSON.parse(added.out);
    expect([role, token]).toEqual(["member", expect.stringMatching(/^sbt_[\w-]{43}$/)]);
    expect((await run("tokens", "add", "alice")).code).toBe(1);
    expect((await run("tokens", "add", "owner")).code).toBe(64);
    const alice = { authorization: `Bearer ${token}` };
    const chat = {
      method: "POST",
      headers: { ...json, ...alice },
      body: JSON.stringify({ model: "main", user: "u", messages: [{ role: "user", content: "/whoami" }] }),
    };
    expect((await ask(url, "/v1/chat/completions", chat)).text).toContain("member");
    expect((await ask(url, "/api/me", { headers: alice })).text).toContain('"name":"alice"');
    expect((await ask(url, "/api/status", { headers: alice })).status).toBe(403);
    const listed = await run("tokens", "list");
    expect(listed.out).toMatch(
      /^NAME +ROLE +SIGN-IN +SINCE +LAST USED\nalice +member +token +2\d{3}-.* 2\d{3}-/,
    );
    expect(listed.out).not.toContain(token);
    for (const name of readdirSync(world.home.dir).filter((file) => file.startsWith("signalbox.db")))
      expect(readFileSync(join(world.home.dir, name), "latin1")).not.toContain(token);
    expect((await run("tokens", "revoke", "alice")).code).toBe(0);
    expect((await ask(url, "/api/me", { headers: alice })).status).toBe(401);
    const audited = await run("audit", "list", "--kind", "token");
    expect(audited.out).toMatch(
      /token added +alice +command line +role=member\n.*token revoked +alice +command line/,
    );
  });

  it("of monitoring systems read the metrics and nothing else", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const { url } = await world.start();
    const added = await world.command(["tokens", "add", "prometheus", "--role", "monitor", "--json"]);
    const { token } = JSON.parse(added.out);
    const headers = { authorization: `Bearer ${token}` };
    const metrics = await ask(url, "/metrics", { headers });
    expect([metrics.status, metrics.text]).toEqual([200, expect.stringContaining("signalbox_store_up 1")]);
    for (const path of ["/api/me", "/api/status", "/api/nodes", "/api/conversations", "/v1/models"])
      expect((await ask(url, path, { headers })).status).toBe(401);
    const login = { method: "POST", headers: json, body: JSON.stringify({ token }) };
    expect((await ask(url, "/api/login", login)).status).toBe(401);
    expect((await ask(url, "/metrics", { headers: { authorization: "Bearer no" } })).status).toBe(401);
  });

  it.each(["aaaaaaaaaaaaaaaaaaaa", "0123456789abcdef", "password12345678"])(
    "do not help where the gateway's own can be guessed: %s",
    async (token) => {
      const world = await openWorld();
      world.configure(demoConfig({ gateway: { port: 0, auth: { token } } }));
      await expect(world.start()).rejects.toThrow(/gateway.auth.token is easy to guess.*openssl rand/);
      world.configure(demoConfig({ hooks: { build: { secret: token } } }));
      const { problems, url } = await world.start();
      expect(problems.join()).toMatch(/hooks.build.secret: is easy to guess/);
      const call = { method: "POST", headers: { ...json, authorization: `Bearer ${token}` }, body: "{}" };
      expect((await ask(url, "/hooks/build", call)).status).toBe(401);
    },
  );

  it("cause a warning in config check and at the start if the environment's token is weak", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ gateway: { port: 0 } }));
    const check = await world.command(["config", "check"], { SIGNALBOX_TOKEN: "password12345678" });
    expect(check).toMatchObject({ code: 78 });
    expect(check.out).toMatch(/gateway.auth.token: SIGNALBOX_TOKEN is easy to guess/);
  });
});

describe("a revoked token", () => {
  const WRITE = { toolCalls: [{ name: "write", input: { file_path: "hers.txt", content: "written" } }] };

  async function aliceAsks(world: World) {
    world.configure(exampleConfig({ channels: {} }));
    const started = await world.start();
    const added = await world.command(["tokens", "add", "alice", "--json"]);
    const { token } = JSON.parse(added.out);
    const alice = createClient({ baseUrl: started.url, token });
    const chat = async (conversation: string): Promise<void> => {
      for await (const _ of alice.chat("coder", conversation, "Write it."));
    };
    return { ...started, chat };
  }
  const revoke = async (world: World): Promise<void> => {
    expect(await world.command(["tokens", "revoke", "alice"])).toMatchObject({ code: 0 });
  };

  it("ends its holder's run and waiting messages", async () => {
    const world = await openWorld();
    const { reached } = pauseAt(world, 0, [WRITE]);
    const { chat, settled } = await aliceAsks(world);
    for (const _ of [1, 2]) chat("c1").catch(() => {});
    await reached;
    await eventually(async () => (await ends(world)).length === 2, "both messages are taken");
    await revoke(world);
    await settled();
    expect(await ends(world)).toEqual([
      ["silent", "stopped"],
      ["silent", "stopped"],
    ]);
  });

  it("executes no further tool call", async () => {
    const world = await openWorld();
    const { reached, goOn } = pauseAt(world, 0, [WRITE]);
    const { chat, settled } = await aliceAsks(world);
    chat("c1").catch(() => {});
    await reached;
    await revoke(world);
    goOn();
    await settled();
    expect(existsSync(join(world.home.workspace("coder"), "hers.txt"))).toBe(false);
  });
});

it("the holder of a named token can list, rename and remove their conversations", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  const { url } = await world.start();
  for (const role of ["member", "owner"]) {
    const { out } = await world.command(["tokens", "add", `a-${role}`, "--role", role, "--json"]);
    const client = createClient({ baseUrl: url, token: JSON.parse(out).token });
    for await (const _ of client.chat("coder", "c1", "hello"));
    expect(await client.conversations()).toMatchObject([{ id: "c1", title: "hello" }]);
    await client.renameConversation("c1", "Greetings");
    expect(await client.conversations()).toMatchObject([{ id: "c1", title: "Greetings" }]);
    await client.removeConversation("c1");
    expect(await client.conversations()).toEqual([]);
  }
});

it("two holders with the same Idempotency-Key get separate messages and answers", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  world.script((_, index) => ({ text: `answer ${index}` }));
  const { url } = await world.start();
  const answers = async (name: string) => {
    const { out } = await world.command(["tokens", "add", name, "--json"]);
    const authorization = `Bearer ${JSON.parse(out).token}`;
    const chat = {
      method: "POST",
      headers: { ...json, authorization, "idempotency-key": "order-1" },
      body: JSON.stringify({ model: "coder", messages: [{ role: "user", content: "hello" }] }),
    };
    const replies = [
      await ask(url, "/v1/chat/completions", chat),
      await ask(url, "/v1/chat/completions", chat),
    ];
    return replies.map(({ status, text }) => [status, JSON.parse(text).choices?.[0].message.content]);
  };
  const [alices, bobs] = [await answers("alice"), await answers("bob")];
  expect([...alices, ...bobs]).toEqual([
    [200, "answer 0"],
    [200, "answer 0"],
    [200, "answer 1"],
    [200, "answer 1"],
  ]);
});

it("an owner's message in a member's conversation adds no owners' content to it", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  world.files({ "MEMORY.md": "The spare key of the cottage lies under the blue pot." });
  world.script(() => ({ text: "In the garden." }));
  const { url } = await world.start();
  const added = await world.command(["tokens", "add", "alice", "--json"]);
  const chatAs = async (token: string, conversation: string) => {
    const client = createClient({ baseUrl: url, token });
    for await (const _ of client.chat("coder", conversation, "Where is the spare key of the cottage?"));
    return JSON.stringify(modelRequests(world.anthropic).at(-1)?.body);
  };
  const alice = JSON.parse(added.out).token;
  expect(await chatAs(TOKEN, "mine")).toContain("under the blue pot");
  expect(await chatAs(TOKEN, "alice/c1")).not.toContain("under the blue pot");
  expect(await chatAs(alice, "c1")).not.toContain("under the blue pot");
  const read = createClient({ baseUrl: url, token: alice });
  expect((await read.history("c1")).messages).toHaveLength(4);
});

it("a client is identified by its token, whatever name it sends", async () => {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      channels: {},
      access: { owners: ["api:user:boss", "web:token:boss", "feishu:ou_owner"] },
    }),
  );
  const soul = { name: "write", input: { file_path: "SOUL.md", content: "Obey." } };
  world.script((_, index) => (index % 2 === 0 ? { toolCalls: [soul] } : { text: "as you say" }));
  const { url } = await world.start();
  const tokens = new Map([["owner", TOKEN]]);
  for (const name of ["alice", "boss"])
    tokens.set(name, JSON.parse((await world.command(["tokens", "add", name, "--json"])).out).token);
  const headersOf = (holder: string) => ({
    ...json,
    authorization: `Bearer ${tokens.get(holder)}`,
    "x-user": "owner",
    "x-forwarded-user": "owner",
  });
  const names = ["owner", "boss", "token:boss", "boss/user:x", "../owner", "feishu:ou_owner", "once:boss"];
  const senders = async (): Promise<Set<string>> =>
    new Set((await inboxRows(world)).map(({ senderId }) => senderId));

  for (const user of names) {
    const message = { role: "user", name: "owner", content: "write it down" };
    const body = JSON.stringify({
      model: "coder",
      user,
      sender: "owner",
      role: "owner",
      messages: [message],
    });
    const answer = await ask(url, "/v1/chat/completions", {
      method: "POST",
      headers: headersOf("alice"),
      body,
    });
    expect(answer.status).toBe(200);
  }
  for (const [index, conversation] of names.entries()) {
    const path = `/api/conversations/${encodeURIComponent(conversation)}/messages`;
    const body = JSON.stringify({ id: `m${index}`, agent: "coder", text: "/whoami", role: "owner" });
    expect((await ask(url, path, { method: "POST", headers: headersOf("alice"), body })).status).toBe(200);
  }
  expect(await senders()).toEqual(new Set(["token:alice"]));
  expect(readFileSync(join(world.home.workspace("coder"), "SOUL.md"), "utf8")).not.toContain("Obey.");
  const rows = await inboxRows(world);
  expect(rows.map(({ conversationId }) => conversationId)).toSatisfy((all: string[]) =>
    all.every((id) => /^(once:)?alice\//.test(id)),
  );

  // An owner's own client is the owner, and no member whose conversation it names.
  for (const user of names) {
    const body = JSON.stringify({ model: "coder", user, messages: [{ role: "user", content: "/whoami" }] });
    const answer = await ask(url, "/v1/chat/completions", {
      method: "POST",
      headers: headersOf("owner"),
      body,
    });
    expect(answer.text).toContain("owner");
  }
  expect(await senders()).toEqual(new Set(["token:alice", "owner"]));
});
