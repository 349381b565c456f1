import type { AgentEvent, AssistantMessage } from "@signalbox/agent-core";
import { getDraftText, REPLY_FILTER } from "@signalbox/prompt";
import { createLiveView, type LiveView } from "@signalbox/runs";
import { expect, it } from "vitest";

function open(earlier: readonly string[] = []): LiveView {
  const ports = { publish: () => {}, retract: () => {}, now: () => 0 };
  return createLiveView({ ...ports, runId: "r", earlier, filter: REPLY_FILTER });
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
      api: "a",
      provider: "p",
      model: "m",
      stopReason,
      timestamp: 0,
    },
  };
}

it("has the finished turns and what is certain of the one being written", () => {
  const view = open(["Before the restart."]);
  for (const event of [start, write("One."), turn("One."), start, write("Two [[rep")]) view.apply(event);
  expect(getDraftText(view, [])).toBe("Before the restart.\n\nOne.\n\nTwo");
});

it("names an attachment only where none can be sent", () => {
  for (const [carries, shown] of [
    [true, "Here it is."],
    [false, "Here it is.\n[file: a.txt]"],
  ] as const) {
    const view = open();
    for (const event of [start, write("Here it is.\nMEDIA:a"), turn("Here it is.\nMEDIA:a.txt")])
      view.apply(event);
    expect(getDraftText(view, [], carries)).toBe(shown);
  }
});

it("has a turn once that goes on after the output limit", () => {
  const view = open();
  for (const event of [start, write("Half of it, "), turn("Half of it, ", "max_tokens")]) view.apply(event);
  expect(getDraftText(view, [])).toBe("Half of it,");
  for (const event of [start, write("and the rest.")]) view.apply(event);
  expect(getDraftText(view, [])).toBe("Half of it, and the rest.");
  view.apply(turn("and the rest."));
  expect(getDraftText(view, [])).toBe("Half of it, and the rest.");
});

it("leaves out what the tool has said, also while it is begun anew", () => {
  const view = open();
  for (const event of [start, write("Done and "), turn("Done and done."), start, write("All ")])
    view.apply(event);
  expect(getDraftText(view, ["Done and done.", "All is well."])).toBe("");
  view.apply(write("is lost."));
  expect(getDraftText(view, ["Done and done.", "All is well."])).toBe("All is lost.");
});

it.each(["aborted", "error"] as const)("has no beginning of a token of a turn that ended as %s", (reason) => {
  for (const [deltas, shown] of [
    [["__S"], ""],
    [["Well. ", "[[reply_to"], "Well."],
    [["MEDIA:/tm"], ""],
  ] as const) {
    const view = open();
    for (const event of [start, ...deltas.map(write), turn(deltas.join(""), reason)]) view.apply(event);
    expect(getDraftText(view, [])).toBe(shown);
    expect(view.texts().join("").trim()).toBe(shown);
  }
});
