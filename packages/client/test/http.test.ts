import { SESSION_KEY_HEADER } from "@signalbox/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ClientError, createClient, isClientError, type KeyStorage } from "../src/index.ts";
import { AGENT, type FakeGateway, SESSION_KEY, startFakeGateway, TOKEN } from "./fake-gateway.ts";

let gateway: FakeGateway;
beforeEach(async () => {
  gateway = await startFakeGateway();
});
afterEach(() => gateway.stop());

const program = () => createClient({ baseUrl: gateway.url, token: TOKEN });

describe("the HTTP API", () => {
  it("returns validated bodies and sends the bearer token", async () => {
    const message = { id: "m1", role: "user", text: "你好", at: 1 };
    const answers: Record<string, unknown> = {
      "/api/agents": [AGENT],
      "/api/conversations": [{ id: "c 1", agent: "coder", title: "Hi", updatedAt: 2 }],
      "/api/conversations/c%201/messages": { messages: [message], ends: [] },
      "/api/status": {
        version: "1",
        demo: true,
        startedAt: 1,
        agents: [AGENT],
        channels: [{ channel: "feishu", account: "main", state: "ready" }],
        configuration: { forStart: [], kept: [], errors: [] },
        inboxPending: 0,
        outboxPending: 0,
      },
      "/api/nodes": {
        shared: true,
        nodes: [
          {
            id: "n",
            self: true,
            state: "up",
            version: "1",
            labels: ["gpu"],
            startedAt: 1,
            seenAt: 2,
            configuration: "c",
            clockSkewMs: 0,
            latencyMs: 1,
            takeovers: 0,
            fencedWrites: 0,
          },
        ],
        seats: [{ kind: "agent", name: "main", node: "n", since: 3, expired: false }],
        databaseBytes: 4,
      },
      "/api/approvals": {
        approvals: [
          {
            id: "ABCD2345",
            agent: "main",
            sessionKey: "s",
            tool: "exec",
            reason: "why",
            action: "ls",
            cwd: "/tmp",
            expiresAt: 1,
          },
        ],
      },
      "/api/usage?by=agent&days=7": { groups: [], budgets: [] },
      "/api/trace/m1": { messageId: "m1", entries: [{ at: 1, stage: "intake", summary: "new" }] },
    };
    for (const [path, body] of Object.entries(answers)) gateway.answers.set(path, () => body);
    const client = program();
    expect(await client.me()).toMatchObject({ agents: [AGENT], demo: true });
    expect(await client.agents()).toEqual(answers["/api/agents"]);
    expect(await client.conversations()).toEqual(answers["/api/conversations"]);
    expect(await client.history("c 1")).toEqual({ messages: [message], ends: [] });
    expect(await client.status()).toEqual(answers["/api/status"]);
    expect(await client.nodes()).toEqual(answers["/api/nodes"]);
    expect(await client.trace("m1")).toEqual(answers["/api/trace/m1"]);
    expect(await client.usage({ by: "agent", days: 7 })).toEqual(answers["/api/usage?by=agent&days=7"]);
    expect({ approvals: await client.approvals() }).toEqual(answers["/api/approvals"]);
    for (const { headers } of gateway.requests) expect(headers.authorization).toBe(`Bearer ${TOKEN}`);
  });

  it("sends the token in the body of a login, never in the URL", async () => {
    await createClient({ baseUrl: gateway.url }).login(TOKEN);
    await program().logout();
    const [login, logout] = gateway.requests;
    expect(login).toMatchObject({ method: "POST", path: "/api/login", body: `{"token":"${TOKEN}"}` });
    expect(login?.headers["authorization"]).toBeUndefined();
    for (const request of [login, logout]) expect(request?.headers["content-type"]).toBe("application/json");
  });

  it("requests a sign-in link", async () => {
    const link = { secret: "once", expiresAt: 1 };
    gateway.answers.set("/api/sign-in-links", () => link);
    expect(await program().signInLink()).toEqual(link);
    expect(gateway.requests[0]).toMatchObject({ method: "POST", path: "/api/sign-in-links" });
  });

  it("shares a browser's session key between tabs until one signs out", async () => {
    const values = new Map<string, string>();
    const storage: KeyStorage = {
      getItem: (name) => values.get(name) ?? null,
      setItem: (name, value) => void values.set(name, value),
      removeItem: (name) => void values.delete(name),
    };
    const tab = createClient({ baseUrl: gateway.url, storage });
    const other = createClient({ baseUrl: gateway.url, storage });
    await expect(other.me()).rejects.toMatchObject({ code: "unauthorized" });
    await tab.login(TOKEN);
    expect([...values.values()]).toEqual([SESSION_KEY]);
    expect(await other.me()).toMatchObject({ agents: [AGENT] });
    const connection = other.connect();
    expect(await connection.opened()).toMatchObject({ type: "ready" });
    connection.close();
    await tab.logout();
    expect([...values.values()]).toEqual([]);
    await expect(other.me()).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("sends no session key if there is a token", async () => {
    const storage: KeyStorage = { getItem: () => SESSION_KEY, setItem: () => {}, removeItem: () => {} };
    await createClient({ baseUrl: gateway.url, token: TOKEN, storage }).me();
    expect(gateway.requests[0]?.headers[SESSION_KEY_HEADER]).toBeUndefined();
  });

  it("throws the gateway's error with its remedy and status", async () => {
    const error: unknown = await createClient({ baseUrl: gateway.url })
      .login("wrong")
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({
      code: "unauthorized",
      message: "Wrong token.",
      remedy: "Look it up.",
      status: 401,
    });
    await expect(program().history("none")).rejects.toMatchObject({ code: "not_found", status: 404 });
  });

  it.each([
    [502, "<html>bad gateway</html>", "internal"],
    [429, "", "throttled"],
    [302, "", "network"],
    [200, "<html>a login page</html>", "protocol"],
    [200, '{"user":null}', "protocol"],
    [400, '{"error":"text"}', "bad_request"],
  ])("derives the error code from status %i and body %s", async (status, body, code) => {
    gateway.answers.set("/api/me", (response) => {
      response.writeHead(status, { location: "/elsewhere" }).end(body);
    });
    const error: unknown = await program()
      .me()
      .catch((caught: unknown) => caught);
    expect(isClientError(error) && error.code).toBe(code);
  });

  it("names the URL of an unreachable gateway", async () => {
    await gateway.stop();
    await expect(program().me()).rejects.toMatchObject({
      code: "network",
      message: `The gateway at ${gateway.url} is unreachable.`,
    });
    gateway = await startFakeGateway();
  });

  it("times out if a response never ends", async () => {
    gateway.answers.set("/api/me", (response) => void response.writeHead(200).write(" "));
    const client = createClient({ baseUrl: gateway.url, token: TOKEN, timeoutMs: 50 });
    await expect(client.me()).rejects.toMatchObject({ code: "timeout" });
  });

  it("recognizes the error of another copy of the package", () => {
    const foreign = Object.assign(new Error("x"), { [Symbol.for("signalbox.client.error")]: true });
    expect(isClientError(foreign)).toBe(true);
    expect(isClientError(new Error("x"))).toBe(false);
    expect(isClientError(null)).toBe(false);
  });
});
