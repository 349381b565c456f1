import type { MediaPart } from "@signalbox/channel";
import { never, openChannel } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { inOwnProcess } from "../src/index.ts";
import { launchLocally } from "../src/testkit.ts";
import untrusted from "./untrusted.ts";

const MODULE = new URL("./untrusted.ts", import.meta.url).href;

const part: MediaPart = {
  type: "media",
  kind: "file",
  name: "a.txt",
  mimeType: "text/plain",
  size: 5,
  ref: { path: "/workspace/a.txt" },
};
const message = { parts: [part] };
const openMedia = async () => new Blob(["hello"]).stream();

const open = (misbehavior: string) =>
  openChannel(inOwnProcess(untrusted, MODULE, launchLocally().launch), misbehavior);

it("rejects an event that does not match the contract", async () => {
  await expect(open("emit")).rejects.toThrow("The gateway rejects what the channel passed");
});

it("drops fields that only the gateway's own channels may set", async () => {
  await using running = await open("reports");
  const [event] = running.events;
  expect(event).toMatchObject({ type: "message", text: "hi" });
  expect(event).not.toHaveProperty("turn");
  expect(event?.sender).not.toHaveProperty("authenticatedAs");
});

it("accepts values with members that are undefined", async () => {
  await using running = await open("undefined");
  expect(running.events).toMatchObject([{ type: "message", text: "hi" }]);
  const [event] = running.events;
  expect(event?.type === "message" && event.media[0]?.ref).toEqual({ key: "1", sizes: [{}] });
});

it("streams the media of a message to the process, and opens nothing else", async () => {
  await using honest = await open("honest");
  const send = { idempotencyKey: "k", signal: never, openMedia };
  expect(await honest.channel.send("c", message, send)).toEqual({
    parts: [{ index: 0, messageId: "hello" }],
  });
  await using running = await open("media");
  const sending = running.channel.send("c", message, send);
  await expect(sending).rejects.toMatchObject({ code: "not_found" });
});

it("kills and restarts a process whose result does not match the contract", async () => {
  await using running = await open("receipt");
  const sending = running.channel.send("c", message, { idempotencyKey: "k", signal: never });
  await expect(sending).rejects.toMatchObject({ code: "unknown_outcome" });
  expect(running.channel.health()).toMatchObject({ state: "down" });
  await expect.poll(() => running.channel.health().state).toBe("ready");
});

it("restarts a process that closes its connection", async () => {
  await using running = await openChannel(inOwnProcess(untrusted, MODULE), "disconnect");
  const sending = running.channel.send("c", message, { idempotencyKey: "k", signal: never });
  await expect(sending).rejects.toMatchObject({ code: "unknown_outcome" });
  await expect.poll(() => running.channel.health().state).toBe("ready");
});

it("rejects settings that another process cannot receive", async () => {
  const opening = openChannel(inOwnProcess(untrusted, MODULE), { list: () => {} });
  await expect(opening).rejects.toMatchObject({ code: "unsupported" });
});

it("lets the host end the process: signals to the process group do not", async () => {
  await using running = await openChannel(inOwnProcess(untrusted, MODULE), "honest");
  const pid = Number(/"pid":(\d+)/.exec(running.logged.join("\n"))?.[1]);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.kill(pid, signal);
  const sending = running.channel.send("c", message, { idempotencyKey: "k", signal: never, openMedia });
  expect(await sending).toEqual({ parts: [{ index: 0, messageId: "hello" }] });
  expect(running.channel.health()).toEqual({ state: "ready" });
});
