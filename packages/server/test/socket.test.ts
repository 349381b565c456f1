import { createServer } from "node:net";
import { offeredProtocols, SESSION_KEY_HEADER, type ServerFrame, SignedIn } from "@signalbox/protocol";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { tokenHash } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService, runOf } from "./memory-service.ts";

const SESSION = "web/second/c1";

async function open() {
  const service = createMemoryService();
  const server = await openServer(service);
  return { service, server, ...(await connect(server)) };
}

async function connect({ url }: { readonly url: string }, token = TOKEN) {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, { headers });
  onTestFinished(() => socket.terminate());
  const frames: ServerFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  await expect.poll(() => frames.length).toBe(1);
  const say = (frame: object) => socket.send(JSON.stringify(frame));
  /** Until everything that was said before is answered. */
  const settled = async () => {
    const before = frames.length;
    say({ type: "ping" });
    await expect.poll(() => frames.slice(before).some(({ type }) => type === "pong")).toBe(true);
  };
  return { socket, frames, say, settled };
}

it("shows a conversation with the default agent where none is named", async () => {
  const { service, frames, say, settled } = await open();
  say({ type: "subscribe", conversation: "c1" });
  await settled();
  for (const event of runOf("r1", ["m1"], ["One", " two"])) service.live.publish(SESSION, event);
  await settled();
  const shown = frames.filter((frame) => "conversation" in frame);
  expect(shown.map(({ type }) => type)).toEqual([
    "subscribed",
    "run.start",
    "text.delta",
    "text.delta",
    "message",
    "run.end",
  ]);
  for (const frame of shown) expect(frame).toMatchObject({ conversation: "c1" });
});

it("keeps a hundred conversations for a viewer, however many it opens", async () => {
  const { service, say, settled } = await open();
  for (let i = 1; i <= 500; i++) say({ type: "subscribe", conversation: `c${i}` });
  await settled();
  const watched = Array.from({ length: 500 }, (_, i) => `c${i + 1}`).filter((each) =>
    service.live.watched(`web/second/${each}`),
  );
  expect(watched).toEqual(Array.from({ length: 100 }, (_, i) => `c${i + 401}`));
});

it("has at most a hundred sockets open for a token, and others for somebody else", async () => {
  const { server, socket: first } = await open();
  const opened = (token = TOKEN): Promise<string> => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
    onTestFinished(() => socket.terminate());
    return new Promise((resolve) => {
      socket.once("open", () => resolve("open"));
      socket.once("error", (error) => resolve(error.message));
    });
  };
  for (let at = 1; at < 100; at++) expect(await opened()).toBe("open");
  expect(await opened()).toContain("429");
  await server.access.tokens.add({ name: "alice", role: "member", hash: tokenHash("hers"), createdAt: 0 });
  expect(await opened("hers")).toBe("open");
  first.close();
  await expect.poll(() => opened()).toBe("open");
});

it("hears nothing of a socket whose browser has signed out, and shows it nothing", async () => {
  const { service, server, settled } = await open();
  const json = { "content-type": "application/json" };
  const post = (path: string, headers: object, body: object) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { ...json, ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await post("/api/login", {}, { token: TOKEN });
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const { sessionKey } = SignedIn.parse(await signedIn.json());
  const address = `${server.url.replace("http", "ws")}/ws`;
  const socket = new WebSocket(address, offeredProtocols(sessionKey), { headers: { cookie } });
  onTestFinished(() => socket.terminate());
  const frames: ServerFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  socket.on("open", () => socket.send(JSON.stringify({ type: "subscribe", conversation: "c1" })));
  await expect.poll(() => frames.map(({ type }) => type)).toEqual(["ready", "subscribed"]);
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // It has not read yet that it is to close, and goes on talking.
  socket.pause();
  expect((await post("/api/logout", { cookie, [SESSION_KEY_HEADER]: sessionKey }, {})).status).toBe(204);
  socket.send(
    JSON.stringify({ type: "send", id: "m1", agent: "second", conversation: "c1", text: "still here" }),
  );
  for (const event of runOf("r1", ["m0"], ["One"])) service.live.publish(SESSION, event);
  await settled();
  await settled();
  socket.resume();
  expect(await closed).toBe(4401);
  expect(frames).toHaveLength(2);
  expect(service.submissions).toEqual([]);
});

it("shows nothing more of a conversation that nobody looks at", async () => {
  const { service, frames, say, settled } = await open();
  say({ type: "subscribe", conversation: "c1" });
  say({ type: "unsubscribe", conversation: "c1" });
  await settled();
  for (const event of runOf("r1", ["m1"], ["One"])) service.live.publish(SESSION, event);
  await settled();
  expect(frames.map(({ type }) => type)).toEqual(["ready", "subscribed", "pong", "pong"]);
  // The agent is remembered: a stop needs no viewer.
  say({ type: "abort", conversation: "c1" });
  await expect.poll(() => service.stopped).toEqual(["c1"]);
});

it("shows who comes late the run so far, deltas joined", async () => {
  const { service, frames, say, settled } = await open();
  for (const event of runOf("r1", ["m1"], ["One", " two"]).slice(0, 3)) service.live.publish(SESSION, event);
  say({ type: "subscribe", conversation: "c1", agent: "second" });
  await settled();
  expect(frames.slice(2, 4)).toMatchObject([{ type: "run.start" }, { type: "text.delta", delta: "One two" }]);
});

it("stops within moments though a viewer never closes", async () => {
  const { server, socket } = await open();
  socket.pause();
  await server.stop(60_000);
}, 20_000);

it("says that an address is taken", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  if (address === null || typeof address === "string") throw new Error("it listens on a port");
  await expect(openServer(createMemoryService(), address.port)).rejects.toMatchObject({
    code: "address_in_use",
  });
});

it("closes with 4401 what was opened with a token that another process has revoked since", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await openServer(createMemoryService());
  await server.access.tokens.add({
    name: "alice",
    role: "member",
    hash: tokenHash("of-alice"),
    createdAt: 0,
  });
  const connect = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
    onTestFinished(() => socket.terminate());
    const closes: number[] = [];
    socket.on("close", (code) => closes.push(code));
    const [ready] = await new Promise<ServerFrame[]>((resolve) =>
      socket.once("message", (data) => resolve([JSON.parse(String(data))])),
    );
    return { socket, closes, ready };
  };
  const alice = await connect("of-alice");
  const owner = await connect(TOKEN);
  expect(alice.ready).toMatchObject({ user: { id: "alice", role: "member" } });
  vi.advanceTimersByTime(5_000);
  await server.access.tokens.revoke("alice");
  vi.advanceTimersByTime(5_000);
  await expect.poll(() => alice.closes).toEqual([4401]);
  expect(owner.closes).toEqual([]);
});

it("keeps a member's conversations apart from those of others under the same name", async () => {
  const service = createMemoryService();
  const server = await openServer(service);
  await server.access.tokens.add({
    name: "alice",
    role: "member",
    hash: tokenHash("of-alice"),
    createdAt: 0,
  });
  const headers = { authorization: "Bearer of-alice" };
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
  onTestFinished(() => socket.terminate());
  const frames: ServerFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  await expect.poll(() => frames.length).toBe(1);
  const say = (frame: object) => socket.send(JSON.stringify(frame));
  say({ type: "subscribe", conversation: "c1", agent: "second" });
  say({ type: "send", id: "m1", agent: "second", conversation: "c1", text: "hello" });
  say({ type: "abort", conversation: "c1" });
  await expect.poll(() => service.stopped).toEqual(["alice/c1"]);
  expect(service.submissions).toMatchObject([
    { conversation: "alice/c1", sender: { name: "alice", role: "member" } },
  ]);
  for (const event of runOf("r1", ["m1"], ["mine"])) service.live.publish("web/second/alice/c1", event);
  for (const event of runOf("r2", ["m2"], ["the owner's"])) service.live.publish(SESSION, event);
  await expect.poll(() => frames.at(-1)?.type).toBe("run.end");
  expect(JSON.stringify(frames)).not.toContain("the owner's");
  expect(frames.filter((frame) => "conversation" in frame && frame.conversation !== "c1")).toEqual([]);
});

it("cuts a viewer off that does not read, before it fills the memory", async () => {
  const { service, socket, say, settled } = await open();
  say({ type: "subscribe", conversation: "c1" });
  await settled();
  expect(service.live.watched(SESSION)).toBe(true);
  socket.pause();
  const message = { id: "m", role: "assistant", text: "x".repeat(1_000_000), at: 0, runId: "r1" } as const;
  for (let count = 0; count < 40 && service.live.watched(SESSION); count++) {
    service.live.publish(SESSION, { type: "message", message });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => service.live.watched(SESSION)).toBe(false);
});

it("shows owners what goes on in the gateway until they want it no more, and members nothing of it", async () => {
  const { frames, say, settled, server } = await open();
  say({ type: "watch" });
  say({ type: "watch" });
  await settled();
  const nothing = { runs: [], waiting: [], commands: [], schedules: [] };
  expect(frames.filter(({ type }) => type === "activity")).toEqual([{ type: "activity", activity: nothing }]);
  say({ type: "unwatch" });
  await settled();

  await server.access.tokens.add({
    name: "al",
    role: "member",
    hash: tokenHash("secret-of-al"),
    createdAt: 0,
  });
  const member = await connect(server, "secret-of-al");
  member.say({ type: "watch" });
  await expect.poll(() => member.frames.at(-1)).toMatchObject({ type: "error", code: "forbidden" });
});

it("looks at the gateway once for all owners who watch it", async () => {
  const { service, server, ...one } = await open();
  const looks = vi.spyOn(service.live, "observe");
  const other = await connect(server);
  for (const { say, settled, frames } of [one, other]) {
    say({ type: "watch" });
    await settled();
    expect(frames.map(({ type }) => type)).toContain("activity");
  }
  expect(looks).toHaveBeenCalledTimes(1);
});
