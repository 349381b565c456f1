import { createServer } from "node:net";
import { offeredProtocols, SESSION_KEY_HEADER, type ServerFrame, SignedIn } from "@signalbox/protocol";
import { expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService, createRunEvents } from "./memory-service.ts";

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
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  /** Waits until the server has handled all frames sent before. */
  const settled = async () => {
    const before = frames.length;
    send({ type: "ping" });
    await expect.poll(() => frames.slice(before).some(({ type }) => type === "pong")).toBe(true);
  };
  return { socket, frames, send, settled };
}

it("subscribes with the default agent if the frame names none", async () => {
  const { service, frames, send, settled } = await open();
  send({ type: "subscribe", conversation: "c1" });
  await settled();
  for (const event of createRunEvents("r1", ["m1"], ["One", " two"])) service.live.publish(SESSION, event);
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

it("keeps the latest 100 subscriptions of a socket", async () => {
  const { service, send, settled } = await open();
  for (let i = 1; i <= 500; i++) send({ type: "subscribe", conversation: `c${i}` });
  await settled();
  const watched = Array.from({ length: 500 }, (_, i) => `c${i + 1}`).filter((each) =>
    service.live.watched(`web/second/${each}`),
  );
  expect(watched).toEqual(Array.from({ length: 100 }, (_, i) => `c${i + 401}`));
});

it("allows 100 sockets per token", async () => {
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
  await server.access.tokens.add({ name: "alice", role: "member", hash: hashToken("hers"), createdAt: 0 });
  expect(await opened("hers")).toBe("open");
  first.close();
  await expect.poll(() => opened()).toBe("open");
});

it("ignores a socket after its browser has signed out and sends it nothing", async () => {
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
  // The socket does not read the close frame and continues to send.
  socket.pause();
  expect((await post("/api/logout", { cookie, [SESSION_KEY_HEADER]: sessionKey }, {})).status).toBe(200);
  socket.send(
    JSON.stringify({ type: "send", id: "m1", agent: "second", conversation: "c1", text: "still here" }),
  );
  for (const event of createRunEvents("r1", ["m0"], ["One"])) service.live.publish(SESSION, event);
  await settled();
  await settled();
  socket.resume();
  expect(await closed).toBe(4401);
  expect(frames).toHaveLength(2);
  expect(service.submissions).toEqual([]);
});

it("sends nothing about an unsubscribed conversation", async () => {
  const { service, frames, send, settled } = await open();
  send({ type: "subscribe", conversation: "c1" });
  send({ type: "unsubscribe", conversation: "c1" });
  await settled();
  for (const event of createRunEvents("r1", ["m1"], ["One"])) service.live.publish(SESSION, event);
  await settled();
  expect(frames.map(({ type }) => type)).toEqual(["ready", "subscribed", "pong", "pong"]);
  // Aborting needs no subscription, because the connection remembers the agent.
  send({ type: "abort", conversation: "c1" });
  await expect.poll(() => service.stopped).toEqual(["c1"]);
});

it("sends the current run with joined deltas to a late subscriber", async () => {
  const { service, frames, send, settled } = await open();
  for (const event of createRunEvents("r1", ["m1"], ["One", " two"]).slice(0, 3))
    service.live.publish(SESSION, event);
  send({ type: "subscribe", conversation: "c1", agent: "second" });
  await settled();
  expect(frames.slice(2, 4)).toMatchObject([{ type: "run.start" }, { type: "text.delta", delta: "One two" }]);
});

it("stops promptly even if a viewer does not close its socket", async () => {
  const { server, socket } = await open();
  socket.pause();
  await server.stop(600_000);
});

it("throws address_in_use if another program listens on the address", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  if (address === null || typeof address === "string") throw new Error("expected a TCP address");
  await expect(openServer(createMemoryService(), { port: address.port })).rejects.toMatchObject({
    code: "address_in_use",
  });
});

it("closes sockets with 4401 after another process has revoked their token", async () => {
  vi.useFakeTimers({ toFake: ["setInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await openServer(createMemoryService());
  await server.access.tokens.add({
    name: "alice",
    role: "member",
    hash: hashToken("of-alice"),
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

it("separates conversations of members that have the same id", async () => {
  const service = createMemoryService();
  const server = await openServer(service);
  await server.access.tokens.add({
    name: "alice",
    role: "member",
    hash: hashToken("of-alice"),
    createdAt: 0,
  });
  const headers = { authorization: "Bearer of-alice" };
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
  onTestFinished(() => socket.terminate());
  const frames: ServerFrame[] = [];
  socket.on("message", (data) => frames.push(JSON.parse(String(data))));
  await expect.poll(() => frames.length).toBe(1);
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  send({ type: "subscribe", conversation: "c1", agent: "second" });
  send({ type: "send", id: "m1", agent: "second", conversation: "c1", text: "hello" });
  send({ type: "abort", conversation: "c1" });
  await expect.poll(() => service.stopped).toEqual(["alice/c1"]);
  expect(service.submissions).toMatchObject([
    { conversation: "alice/c1", sender: { name: "alice", role: "member" } },
  ]);
  for (const event of createRunEvents("r1", ["m1"], ["mine"]))
    service.live.publish("web/second/alice/c1", event);
  for (const event of createRunEvents("r2", ["m2"], ["the owner's"])) service.live.publish(SESSION, event);
  await expect.poll(() => frames.at(-1)?.type).toBe("run.end");
  expect(JSON.stringify(frames)).not.toContain("the owner's");
  expect(frames.filter((frame) => "conversation" in frame && frame.conversation !== "c1")).toEqual([]);
});

it("disconnects a viewer that does not read", async () => {
  const { service, socket, send, settled } = await open();
  send({ type: "subscribe", conversation: "c1" });
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

it("sends the activity of the gateway to owners who watch it, and not to members", async () => {
  const { frames, send, settled, server } = await open();
  send({ type: "watch" });
  send({ type: "watch" });
  await settled();
  const nothing = { runs: [], waiting: [], commands: [], schedules: [] };
  expect(frames.filter(({ type }) => type === "activity")).toEqual([{ type: "activity", activity: nothing }]);
  send({ type: "unwatch" });
  await settled();

  await server.access.tokens.add({
    name: "al",
    role: "member",
    hash: hashToken("secret-of-al"),
    createdAt: 0,
  });
  const member = await connect(server, "secret-of-al");
  member.send({ type: "watch" });
  await expect.poll(() => member.frames.at(-1)).toMatchObject({ type: "error", code: "forbidden" });
});

it("shares one activity watch between all sockets", async () => {
  const { service, server, ...first } = await open();
  const observe = vi.spyOn(service.live, "observe");
  const other = await connect(server);
  for (const { send, settled, frames } of [first, other]) {
    send({ type: "watch" });
    await settled();
    expect(frames.map(({ type }) => type)).toContain("activity");
  }
  expect(observe).toHaveBeenCalledTimes(1);
});
