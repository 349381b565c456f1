import type { AgentEvent, AssistantMessage, ModelErrorData } from "@signalbox/agent-core";
import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveView, type LiveView, type TextFilter } from "../src/index.ts";
import { NO_FILTER } from "../src/view/text-filter.ts";

/** Hides stars, and holds back text that may end with one. */
const STARRED: TextFilter = {
  ...NO_FILTER,
  getVisible: (text) => text.replaceAll("*", "").trim(),
  stream() {
    let out = "";
    return {
      push(delta) {
        const [certain = ""] = delta.split("*");
        out += certain;
        return certain;
      },
      end: (visible) => visible.slice(out.length),
    };
  },
};

function open(earlier: readonly string[] = []): LiveView & { readonly seen: LiveEvent[] } {
  const seen: LiveEvent[] = [];
  const view = createLiveView({
    runId: "r",
    earlier,
    filter: STARRED,
    now: () => 0,
    publish: (event) => seen.push(event),
    retract: () => seen.push({ type: "error", code: "retracted", message: "" }),
  });
  return { ...view, seen };
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

it("gives each turn the id of its stored message, also in a run that another process started", () => {
  const view = open(["Before the restart.", "***"]);
  for (const event of [start, write("One*."), turn("One*.")]) view.apply(event);
  expect(view.seen).toEqual([
    { type: "text.delta", runId: "r", delta: "One" },
    { type: "text.delta", runId: "r", delta: "." },
    { type: "message", message: { id: "r.1", role: "assistant", text: "One.", at: 0, runId: "r" } },
  ]);
  expect(view.texts()).toEqual(["Before the restart.", "***", "One*."]);
});

it("retracts the text of a discarded turn", () => {
  const view = open();
  const error: ModelErrorData = {
    code: "overflow",
    message: "too long",
    retryable: false,
    emitted: true,
    scope: "model",
  };
  for (const event of [start, write("Wrong")]) view.apply(event);
  expect(view.currentText()).toBe("Wrong");
  view.apply({ type: "model.discard", reason: "overflow", error });
  expect([view.currentText(), view.seen.at(-1)?.type]).toEqual(["", "error"]);
  for (const event of [start, write("Right")]) view.apply(event);
  // No new paragraph, since no text was shown before.
  expect(view.seen.at(-1)).toMatchObject({ delta: "Right" });
});

it("takes back text that turns out to be reasoning, and shows all of the answer after it", () => {
  const view = open();
  for (const event of [start, write("So four.")]) view.apply(event);
  view.apply({ type: "block.end", index: 0, block: { type: "thinking", text: "So four." } });
  expect([view.currentText(), view.seen.at(-1)]).toMatchObject(["", { code: "retracted" }]);
  view.apply({ type: "text.delta", index: 1, delta: "Four*." });
  expect(view.currentText()).toBe("Four");
  view.apply(turn("Four*."));
  expect(view.seen.slice(-3)).toMatchObject([
    { type: "text.delta", delta: "\n\nFour" },
    { type: "text.delta", delta: "." },
    { type: "message", message: { text: "Four." } },
  ]);
});

it.each(["max_tokens", "pause"] as const)("shows a turn that continues after %s once", (reason) => {
  const view = open();
  for (const event of [start, write("Half of it, "), turn("Half of it, ", reason)]) view.apply(event);
  expect([view.completedTexts(), view.currentText()]).toEqual([[], "Half of it, "]);
  for (const event of [start, write("and the rest."), turn("and the rest.")]) view.apply(event);
  expect(view.texts()).toEqual(["Half of it, and the rest."]);
  expect(view.seen.filter(({ type }) => type === "message")).toHaveLength(1);
});

it.each(["aborted", "error", "context_overflow"] as const)(
  "keeps the visible text of a turn that ended as %s",
  (reason) => {
    const view = open();
    for (const event of [start, write("Well. *half"), turn("Well. *half", reason)]) view.apply(event);
    expect(view.texts()).toEqual(["Well. "]);
  },
);

it("shows the progress of a tool under the name of its call", () => {
  const { seen, apply } = open();
  const call = { type: "toolCall", id: "c1", name: "exec", args: {}, argsText: "{}" } as const;
  const partial = { content: [{ type: "text" as const, text: "1 of 9" }] };
  apply({ type: "tool.update", callId: "unknown", partial });
  apply({ type: "tool.start", call, args: {} });
  apply({ type: "tool.update", callId: "c1", partial });
  expect(seen).toEqual([
    { type: "tool.start", runId: "r", call: { id: "c1", name: "exec", args: {} } },
    { type: "tool.update", runId: "r", call: { id: "c1", name: "exec", text: "1 of 9" } },
  ]);
});
