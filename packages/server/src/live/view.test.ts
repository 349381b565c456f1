import type { LiveEvent, ServerFrame } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createMemoryService } from "../../test/memory-service.ts";
import { openView } from "./view.ts";

const start: LiveEvent = { type: "run.start", runId: "r1" };
const delta: LiveEvent = { type: "text.delta", runId: "r1", delta: "hello" };
const end: LiveEvent = { type: "run.end", runId: "r1", outcome: "replied" };
const asked: LiveEvent = { type: "message", message: { id: "m1", role: "user", text: "hi", at: 0 } };

/** A view of a session that runs on another node, whose first events arrive later. */
function openRemote() {
  const service = createMemoryService();
  const joined = Promise.withResolvers<void>();
  const live = { ...service.live, join: () => joined.promise };
  const frames: ServerFrame[] = [];
  const scoped = {
    ...service,
    live,
    answer: async () => undefined,
    conversations: async () => [],
    speak: async () => ({ mimeType: "audio/ogg", data: "" }),
  };
  const view = openView({
    service: scoped,
    agent: "first",
    conversation: "c1",
    show: (frame) => frames.push(frame),
  });
  const publish = (...events: LiveEvent[]) => {
    for (const event of events) live.publish("web/first/c1", event);
  };
  const join = async () => {
    joined.resolve();
    await joined.promise;
    await Promise.resolve();
  };
  return { view, frames, publish, join, types: () => frames.map(({ type }) => type) };
}

it("waits for the events of another node before it reports the state of a conversation", async () => {
  const { view, frames, publish, join, types } = openRemote();
  publish(start);
  expect(types()).toEqual(["run.start"]);
  view.start();
  publish(delta);
  expect(types()).toEqual(["run.start"]);
  await join();
  expect(types()).toEqual(["run.start", "subscribed", "run.start", "text.delta"]);
  expect(frames[3]).toMatchObject({ delta: "hello" });
  publish(end);
  expect(types().at(-1)).toBe("run.end");
});

it("shows a run that began and ended during the wait", async () => {
  const { view, publish, join, types } = openRemote();
  view.start();
  publish(asked, start, delta, end);
  await join();
  expect(types()).toEqual(["subscribed", "message", "run.start", "text.delta", "run.end"]);
});

it("shows nothing after it was closed during the wait", async () => {
  const { view, publish, join, frames } = openRemote();
  view.start();
  publish(start);
  view.end();
  await join();
  expect(frames).toEqual([]);
});
