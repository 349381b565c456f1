import { ConversationList } from "@signalbox/protocol";
import { StoreError } from "@signalbox/store/errors";
import { describe, expect, it } from "vitest";
import { hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const json = { "content-type": "application/json" };

describe("the HTTP API", () => {
  it("is not ready while the store cannot be written, and says why", async () => {
    const { url } = await openServer({ ...createMemoryService(), storeFault: () => "disk_full" });
    const ready = await fetch(`${url}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ status: "store_unavailable", code: "disk_full" });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("serves health checks without a token and everything else only with one", async () => {
    const { url } = await openServer(createMemoryService());
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
    for (const path of ["/metrics", "/api/me", "/v1/models"]) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 401]);
      expect([path, (await fetch(url + path, { headers: bearer })).status]).toEqual([path, 200]);
    }
    expect(await (await fetch(`${url}/metrics`, { headers: bearer })).text()).toBe("up 1\n");
  });

  it("asks clients to try again while the database cannot be used", async () => {
    const away = () => Promise.reject(new StoreError("unreachable", "the server at 10.0.0.1 is away"));
    const { url } = await openServer({ ...createMemoryService(), submit: away, conversations: away });
    const list = await fetch(`${url}/api/conversations?agent=second`, { headers: bearer });
    expect([list.status, list.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await list.json()).toMatchObject({ error: { code: "unavailable" } });
    const chat = { model: "second", messages: [{ role: "user", content: "hello" }] };
    const request = { method: "POST", headers: { ...bearer, ...json }, body: JSON.stringify(chat) };
    const answer = await fetch(`${url}/v1/chat/completions`, request);
    expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "5"]);
    const body = await answer.text();
    expect(body).toContain('"type":"server_error"');
    expect(body).not.toContain("10.0.0.1");
  });

  it("says that the disk is full, and what to do", async () => {
    const full = () =>
      Promise.reject(new Error("not saved", { cause: new StoreError("disk_full", "/home/me") }));
    const { url } = await openServer({ ...createMemoryService(), conversations: full });
    const list = await fetch(`${url}/api/conversations?agent=second`, { headers: bearer });
    expect(list.status).toBe(503);
    const body = await list.text();
    expect(JSON.parse(body)).toMatchObject({
      error: {
        code: "disk_full",
        message: expect.stringContaining("disk of the gateway is full"),
        remedy: expect.stringContaining("Free some space"),
      },
    });
    expect(body).not.toContain("/home/me");
  });

  it("forbids caches to store private responses", async () => {
    const { url } = await openServer(createMemoryService(() => ({ state: "replied", text: "hello" })));
    for (const path of ["/api/me", "/v1/models", "/metrics"]) {
      for (const headers of [bearer, {}])
        expect((await fetch(url + path, { headers })).headers.get("cache-control")).toBe("no-store");
    }
    const streamed = { model: "second", stream: true, messages: [{ role: "user", content: "hello" }] };
    for (const body of [streamed, { ...streamed, stream: false }, { ...streamed, model: "nobody" }]) {
      const headers = { ...bearer, ...json };
      const request = { method: "POST", headers, body: JSON.stringify(body) };
      const answer = await fetch(`${url}/v1/chat/completions`, request);
      expect([answer.status, answer.headers.get("cache-control")]).toEqual([
        body.model === "second" ? 200 : 404,
        "no-store",
      ]);
      await answer.body?.cancel();
    }
  });

  it("limits members to agents and their own conversations on every surface", async () => {
    const service = createMemoryService(({ text }) => ({ state: "replied", text: `You said: ${text}` }));
    const { url, access } = await openServer(service);
    for (const [name, role] of [
      ["alice", "member"],
      ["al", "member"],
      ["bob", "owner"],
    ] as const)
      await access.tokens.add({ name, role, hash: hashToken(`secret-of-${name}`), createdAt: 0 });
    const as = (name: string) => ({ authorization: `Bearer secret-of-${name}` });
    const get = async (name: string, path: string) => fetch(url + path, { headers: as(name) });
    const post = (name: string, path: string, body: object = {}) =>
      fetch(url + path, { method: "POST", headers: { ...as(name), ...json }, body: JSON.stringify(body) });

    expect(await (await get("alice", "/api/me")).json()).toMatchObject({
      user: { id: "alice", name: "alice", role: "member" },
    });
    const forOwners = ["status", "approvals", "sessions", "messages", "pairings", "trace/x", "why/x"];
    for (const path of [...forOwners.map((each) => `/api/${each}`), "/metrics"]) {
      expect([path, (await get("alice", path)).status]).toEqual([path, 403]);
      expect([path, (await get("bob", path)).status]).toEqual([path, path.endsWith("/x") ? 404 : 200]);
    }
    for (const path of [
      ...["/api/approvals/A", "/api/maintenance/prune", "/api/outbox/changed", "/api/nothing"],
      ...["/api/pairings/approve", "/api/pairings/revoke"],
    ])
      expect([path, (await post("alice", path, { answer: "allow" })).status]).toEqual([path, 403]);

    const chat = { model: "second", user: "u", messages: [{ role: "user", content: "hello" }] };
    for (const name of ["alice", "al", "bob"])
      expect((await post(name, "/v1/chat/completions", chat)).status).toBe(200);
    const once = { ...chat, user: undefined };
    expect((await post("alice", "/v1/chat/completions", once)).status).toBe(200);
    expect(service.submissions.map(({ conversation, sender }) => [conversation, sender?.role])).toEqual([
      ["alice/user:u", "member"],
      ["al/user:u", "member"],
      ["user:u", "owner"],
      [expect.stringMatching(/^once:alice\//), "member"],
    ]);
    service.existing.push("alice/one", "al/two", "three");
    const conversations = async (name: string) =>
      ConversationList.parse(await (await get(name, "/api/conversations")).json()).map(({ id }) => id);
    expect(await conversations("alice")).toEqual(["one"]);
    expect(await conversations("al")).toEqual(["two"]);
    expect(await conversations("bob")).toEqual(["alice/one", "al/two", "three"]);
    expect((await get("alice", "/api/conversations/one/messages")).status).toBe(200);
    for (const id of ["three", "al%2Ftwo", "..%2Fal%2Ftwo"])
      expect([id, (await get("alice", `/api/conversations/${id}/messages`)).status]).toEqual([id, 404]);

    const change = (name: string, id: string, what: string, body: object) =>
      post(name, `/api/conversations/${id}/${what}`, body).then(({ status }) => status);
    expect(await change("alice", "one", "speech", { message: "a1" })).toBe(200);
    expect(await change("alice", "one", "speech", { message: "a2" })).toBe(404);
    expect(await change("alice", "two", "speech", { message: "a1" })).toBe(404);
    expect(await change("alice", "al%2Ftwo", "speech", { message: "a1" })).toBe(404);
    expect(await change("alice", "one", "speech", {})).toBe(400);
    expect(await change("alice", "two", "rename", { title: "Mine" })).toBe(404);
    expect(await change("alice", "one", "rename", { title: "" })).toBe(400);
    expect(await change("alice", "one", "rename", { title: "Mine" })).toBe(204);
    expect(await change("alice", "al%2Ftwo", "remove", {})).toBe(404);
    expect(await change("alice", "one", "remove", {})).toBe(204);
    expect(await conversations("bob")).toEqual(["al/two", "three"]);
  });

  it.each([
    ["GET", "/api/conversations/nope/messages", 404, "There is no conversation nope."],
    ["POST", "/api/conversations/nope/remove", 404, "There is no conversation nope."],
    ["GET", "/api/why/nope", 404, "There is no message nope."],
    ["GET", "/api/trace/nope", 404, "There is no message nope."],
    ["GET", "/api/why/nope?language=de", 400, "The URL is invalid."],
    ["GET", "/api/usage?by=week", 400, "The URL is invalid."],
    ["GET", "/api/nope", 404, "There is no GET /api/nope."],
    ["GET", `/api/conversations/c/events?after=${"x".repeat(200)}`, 400, "The URL is invalid."],
  ])("explains why %s %s fails", async (method, path, status, message) => {
    const { url } = await openServer(createMemoryService());
    const headers = { ...bearer, "content-type": "application/json" };
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      ...(method === "POST" ? { body: "{}" } : {}),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.stringContaining(message) } });
  });

  it("marks the default agent", async () => {
    const { url } = await openServer(createMemoryService());
    const agents = await (await fetch(`${url}/api/agents`, { headers: bearer })).json();
    expect(agents).toMatchObject([{ id: "first" }, { id: "second", default: true }]);
  });

  it("passes the body of a hook to the agent as untrusted text", async () => {
    const service = createMemoryService();
    const { url } = await openServer(service);
    const call = (headers: Record<string, string>) =>
      fetch(`${url}/hooks/build`, {
        method: "POST",
        headers: { ...json, ...headers },
        body: '{"state":"failed"}',
      });
    const refused = await call(bearer);
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { error: { code: "unauthorized", remedy: expect.stringContaining("the hook's secret") } },
    ]);
    const answer = await call({ authorization: "Bearer the-secret-of-the-hook", "idempotency-key": "1" });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { status: "accepted", messageId: "hook:build:1" },
    ]);
    expect(service.submissions).toMatchObject([
      { channel: "web", agent: "second", text: "The build failed", from: "hook build" },
    ]);
  });

  it("throttles guesses at the secret of a hook", async () => {
    const { url, refused } = await openServer(createMemoryService());
    const guess = (secret: string) =>
      fetch(`${url}/hooks/build`, {
        method: "POST",
        headers: { ...json, authorization: `Bearer ${secret}` },
        body: "{}",
      });
    const statuses: number[] = [];
    for (let wrong = 0; wrong < 12; wrong++) statuses.push((await guess(`guess-${wrong}`)).status);
    expect(statuses).toEqual([...Array(9).fill(401), 429, 429, 429]);
    // The right secret still works from the same address.
    expect((await guess("the-secret-of-the-hook")).status).toBe(202);
    expect(refused.slice(-2)).toEqual(["hooks 429", "hooks 429"]);
  });
});
