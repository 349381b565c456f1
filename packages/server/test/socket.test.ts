import { createServer } from "node:net";
import type { ServerFrame } from "@signalbox/protocol";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService, runOf } from "./memory-service.ts";

const SESSION = "web/second/c1";

async function open() {
  const service = createMemoryService();
  const server = await openServer(service);
  const headers = { authorization: `Bearer ${TOKEN}` };
  const socket = new WebSocket(`${server.url.replace("http", "ws")}/ws`, { headers });
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
  return { service, server, socket, frames, say, settled };
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
