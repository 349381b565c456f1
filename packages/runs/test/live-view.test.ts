import type { AgentEvent, AssistantMessage, ModelErrorData } from "@signalbox/agent-core";
import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveView, type LiveView, PLAIN, type Reading } from "../src/index.ts";

/** Stars are for nobody's eyes, and what may yet be one is held back. */
const STARRED: Reading = {
  ...PLAIN,
  visible: (said) => said.replaceAll("*", "").trim(),
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
    reading: STARRED,
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

it("gives each turn the id that it has later, whoever began the run", () => {
  const view = open(["Before the restart.", "***"]);
  for (const event of [start, write("One*."), turn("One*.")]) view.see(event);
  expect(view.seen).toEqual([
    { type: "text.delta", runId: "r", delta: "One" },
    { type: "text.delta", runId: "r", delta: "." },
    { type: "message", message: { id: "r.1", role: "assistant", text: "One.", at: 0, runId: "r" } },
  ]);
  expect(view.texts()).toEqual(["Before the restart.", "***", "One*."]);
});

it("takes back the text of a turn that is void", () => {
  const view = open();
  const error: ModelErrorData = {
    code: "overflow",
    message: "too long",
    retryable: false,
    emitted: true,
    scope: "model",
  };
  for (const event of [start, write("Wrong")]) view.see(event);
  expect(view.current()).toBe("Wrong");
  view.see({ type: "model.discard", reason: "overflow", error });
  expect([view.current(), view.seen.at(-1)?.type]).toEqual(["", "error"]);
  for (const event of [start, write("Right")]) view.see(event);
  // No new paragraph after what nobody has seen.
  expect(view.seen.at(-1)).toMatchObject({ delta: "Right" });
});

it.each(["max_tokens", "pause"] as const)("shows a turn once that goes on after %s", (reason) => {
  const view = open();
  for (const event of [start, write("Half of it, "), turn("Half of it, ", reason)]) view.see(event);
  expect([view.ended(), view.current()]).toEqual([[], "Half of it, "]);
  for (const event of [start, write("and the rest."), turn("and the rest.")]) view.see(event);
  expect(view.texts()).toEqual(["Half of it, and the rest."]);
  expect(view.seen.filter(({ type }) => type === "message")).toHaveLength(1);
});

it.each(["aborted", "error", "context_overflow"] as const)(
  "keeps of a turn that ended as %s what was seen of it",
  (reason) => {
    const view = open();
    for (const event of [start, write("Well. *half"), turn("Well. *half", reason)]) view.see(event);
    expect(view.texts()).toEqual(["Well. "]);
  },
);

it("shows what a tool says while it works, under the name of its call", () => {
  const { seen, see } = open();
  const call = { type: "toolCall", id: "c1", name: "exec", args: {}, argsText: "{}" } as const;
  const partial = { content: [{ type: "text" as const, text: "1 of 9" }] };
  see({ type: "tool.update", callId: "unknown", partial });
  see({ type: "tool.start", call, args: {} });
  see({ type: "tool.update", callId: "c1", partial });
  expect(seen).toEqual([
    { type: "tool.start", runId: "r", call: { id: "c1", name: "exec", args: {} } },
    { type: "tool.update", runId: "r", call: { id: "c1", name: "exec", text: "1 of 9" } },
  ]);
});
