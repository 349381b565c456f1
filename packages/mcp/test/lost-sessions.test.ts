import { expect, it } from "vitest";
import { type LostSession, startFakeHttpServer } from "./fake-http-server.ts";
import { call, everyTool, startServers, text } from "./harness.ts";

it.each<[string, LostSession]>([
  ["404", { status: 404, body: "Session not found" }],
  ["404 without a word", { status: 404, body: "" }],
  ["400", { status: 400, body: "Bad Request: No valid session ID provided" }],
  ["400 and a missing handshake", { status: 400, body: "Bad Request: Server not initialized" }],
  ["422 and a missing handshake", { status: 422, body: "Unexpected message, expect initialize request" }],
  [
    "200 and a JSON-RPC error about the handshake",
    { rpcError: { code: -32_002, message: "Received request before initialization was complete" } },
  ],
  ["410", { status: 410, body: "Gone" }],
  ["500", { status: 500, body: '{"error":"Session not found"}' }],
  ["503", { status: 503, body: "" }],
  ["200 and the JSON-RPC error -32001", { rpcError: { code: -32_001, message: "Session not found" } }],
  ["200 and an error without an id", { rpcError: { code: -32_000, message: "Session not found" }, id: null }],
  [
    "200 and an error of the Python SDK",
    { rpcError: { code: -32_600, message: "Session not found" }, id: "server-error" },
  ],
  ["200 and the JSON-RPC error -32000", { rpcError: { code: -32_000, message: "Invalid session ID" } }],
])(
  "opens a new session and repeats the call if the server reports a lost session with %s",
  async (_, lost) => {
    const { url, calls, forget } = await startFakeHttpServer({ lostSession: lost });
    const servers = startServers({ web: { url } });
    const tools = await servers.tools(everyTool);
    expect(text(await call(tools, "mcp__web__count"))).toBe("session 1");
    forget();
    expect(text(await call(tools, "mcp__web__count"))).toBe("session 3");
    expect(calls).toEqual(["session 1", "session 3"]);
    expect(servers.status()).toMatchObject([{ state: "ready", notes: [] }]);
  },
);

it("opens a new session for the next call after a server error that does not mention the session", async () => {
  const { url, calls, forget } = await startFakeHttpServer({
    lostSession: { status: 500, body: "Internal Server Error" },
  });
  const servers = startServers({ web: { url } });
  const tools = await servers.tools(everyTool);
  forget();
  await expect(call(tools, "mcp__web__count")).rejects.toThrow("Internal Server Error");
  expect(text(await call(tools, "mcp__web__count"))).toBe("session 3");
  expect(calls).toEqual(["session 3"]);
});

it("opens a new session if the server reports a lost session while it lists its tools", async () => {
  const { url } = await startFakeHttpServer({ forgetsFirst: true });
  const servers = startServers({ web: { url } });
  const tools = await servers.tools(everyTool);
  expect(text(await call(tools, "mcp__web__count"))).toBe("session 3");
  expect(servers.status()).toMatchObject([{ state: "ready", notes: [] }]);
});

it("does not take the error of a tool for a lost session", async () => {
  const { url, calls } = await startFakeHttpServer({
    results: { "tools/call": { isError: true, content: [{ type: "text", text: "Session not found" }] } },
  });
  const tools = await startServers({ web: { url } }).tools(everyTool);
  expect(await call(tools, "mcp__web__count")).toMatchObject({ isError: true });
  expect(calls).toEqual(["session 1"]);
});

it("ends its session when it is closed", async () => {
  const { url, ended } = await startFakeHttpServer();
  const servers = startServers({ web: { url } });
  await servers.tools(everyTool);
  expect(ended).toEqual([]);
  await servers.close();
  expect(ended).toEqual(["session-1"]);
});

it("shares one list request between concurrent callers", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { url } = await startFakeHttpServer({
    beforeList: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  const servers = startServers({ slow: { url } });
  const first = servers.tools(everyTool);
  await asked.promise;
  const second = servers.tools(everyTool);
  answer.resolve();
  expect(await first).toHaveLength(1);
  expect(await second).toHaveLength(1);
});
