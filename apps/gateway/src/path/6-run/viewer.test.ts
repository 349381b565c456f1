import type { AgentEvent, AssistantMessage, ModelErrorData } from "@signalbox/agent-core";
import { createLiveHub } from "@signalbox/server";
import { type InboxId, parseId } from "@signalbox/store";
import { expect, it } from "vitest";
import { createViewer, type Viewer } from "./viewer.ts";

const traced = parseId<InboxId>("01ARZ3NDEKTSV4RRFFQ69G5FAV");

function open(earlier: readonly string[] = []): Viewer {
  if (traced === undefined) throw new Error("no id");
  return createViewer({
    live: createLiveHub(() => {}),
    tracer: { note: () => {} },
    sessionKey: "s",
    runId: "r",
    traced,
    earlier,
    now: () => 0,
  });
}

const start: AgentEvent = {
  type: "model.start",
  request: { api: "a", provider: "p", model: "m" },
  warnings: [],
};
const write = (delta: string): AgentEvent => ({ type: "text.delta", index: 0, delta });

function turn(text: string, stopReason: AssistantMessage["stopReason"] = "end_turn"): AgentEvent {
  return {
    type: "message",
    origin: "model",
    message: {
      role: "assistant",
      content: [{ type: "text", text }],
      ...{ api: "a", provider: "p", model: "m", stopReason, timestamp: 0 },
    },
  };
}

it("shows the finished turns and what is certain of the one being written", () => {
  const viewer = open(["Before the restart."]);
  for (const event of [start, write("One."), turn("One."), start, write("Two [[rep")]) viewer.see(event);
  expect(viewer.visible([])).toBe("Before the restart.\n\nOne.\n\nTwo");
});

it("names an attachment only where none can be sent", () => {
  for (const [carries, shown] of [
    [true, "Here it is."],
    [false, "Here it is.\n[file: a.txt]"],
  ] as const) {
    const viewer = open();
    for (const event of [start, write("Here it is.\nMEDIA:a"), turn("Here it is.\nMEDIA:a.txt")])
      viewer.see(event);
    expect(viewer.visible([], carries)).toBe(shown);
  }
});

it("drops the text of a turn that is void", () => {
  const viewer = open();
  const error: ModelErrorData = {
    code: "overflow",
    message: "too long",
    retryable: false,
    emitted: true,
    scope: "model",
  };
  for (const event of [start, write("Wrong")]) viewer.see(event);
  expect(viewer.visible([])).toBe("Wrong");
  viewer.see({ type: "model.discard", reason: "overflow", error });
  expect(viewer.visible([])).toBe("");
  for (const event of [start, write("Right")]) viewer.see(event);
  expect(viewer.visible([])).toBe("Right");
});

it("shows a turn once that goes on after the output limit", () => {
  const viewer = open();
  for (const event of [start, write("Half of it, "), turn("Half of it, ", "max_tokens")]) viewer.see(event);
  expect(viewer.visible([])).toBe("Half of it,");
  for (const event of [start, write("and the rest.")]) viewer.see(event);
  expect(viewer.visible([])).toBe("Half of it, and the rest.");
  viewer.see(turn("and the rest."));
  expect(viewer.visible([])).toBe("Half of it, and the rest.");
});

it("leaves out what the tool has said, also while it is begun anew", () => {
  const viewer = open();
  for (const event of [start, write("Done and "), turn("Done and done."), start, write("All ")])
    viewer.see(event);
  expect(viewer.visible(["Done and done.", "All is well."])).toBe("");
  viewer.see(write("is lost."));
  expect(viewer.visible(["Done and done.", "All is well."])).toBe("All is lost.");
});

it.each(["aborted", "error"] as const)(
  "shows no beginning of a token in a turn that ended as %s",
  (reason) => {
    for (const [deltas, shown] of [
      [["__S"], ""],
      [["Well. ", "[[reply_to"], "Well."],
      [["MEDIA:/tm"], ""],
    ] as const) {
      const viewer = open();
      for (const event of [start, ...deltas.map(write), turn(deltas.join(""), reason)]) viewer.see(event);
      expect(viewer.visible([])).toBe(shown);
      expect(viewer.texts().join("").trim()).toBe(shown);
    }
  },
);

it("shows what a tool says while it works, under the name of its call", () => {
  if (traced === undefined) throw new Error("no id");
  const live = createLiveHub((error) => {
    throw error;
  });
  const seen: unknown[] = [];
  live.subscribe("s", (event) => seen.push(event));
  const options = { tracer: { note: () => {} }, sessionKey: "s", runId: "r", traced, now: () => 0 };
  const viewer = createViewer({ ...options, live, earlier: [] });
  const call = { type: "toolCall", id: "c1", name: "exec", args: {}, argsText: "{}" } as const;
  const partial = { content: [{ type: "text" as const, text: "1 of 9" }] };
  viewer.see({ type: "tool.update", callId: "unknown", partial });
  viewer.see({ type: "tool.start", call, args: {} });
  viewer.see({ type: "tool.update", callId: "c1", partial });
  expect(seen).toEqual([
    { type: "tool.start", runId: "r", call: { id: "c1", name: "exec", args: {} } },
    { type: "tool.update", runId: "r", call: { id: "c1", name: "exec", text: "1 of 9" } },
  ]);
});
