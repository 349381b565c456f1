import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createCoalescer } from "./coalesce.ts";

const text = (delta: string): LiveEvent => ({ type: "text.delta", runId: "r", delta });
const thought = (delta: string): LiveEvent => ({ type: "thinking.delta", runId: "r", delta });
const progress = (id: string, text: string): LiveEvent => ({
  type: "tool.update",
  runId: "r",
  call: { id, name: "exec", text },
});
const end: LiveEvent = { type: "run.end", runId: "r", outcome: "replied" };

/** A coalescer whose timers fire only on `tick`. */
function open() {
  const passed: LiveEvent[] = [];
  const timers: { callback: () => void; ms: number }[] = [];
  const cursors: string[] = [];
  const coalescer = createCoalescer(
    (event, cursor) => {
      passed.push(event);
      cursors.push(cursor);
    },
    (callback, ms) => {
      const timer = { callback, ms };
      timers.push(timer);
      return () => timers.splice(timers.indexOf(timer), 1);
    },
  );
  const tick = () => timers.shift()?.callback();
  let pushed = 0;
  const push = (event: LiveEvent) => coalescer.push(event, String(++pushed));
  return { ...coalescer, push, passed, cursors, timers, tick };
}

it("joins the deltas of 150 ms into one event", () => {
  const { push, passed, cursors, timers, tick } = open();
  for (let piece = 0; piece < 40; piece++) push(text(`${piece} `));
  expect(passed).toEqual([text("0 ")]);
  expect(timers.map(({ ms }) => ms)).toEqual([150]);
  tick();
  const rest = Array.from({ length: 39 }, (_, piece) => `${piece + 1} `).join("");
  expect(passed).toEqual([text("0 "), text(rest)]);
  expect(cursors).toEqual(["1", "40"]);
  // After a tick without events the timer stops, and the next delta is emitted immediately.
  tick();
  expect(timers).toEqual([]);
  push(text("new"));
  expect(passed.at(-1)).toEqual(text("new"));
});

it("emits buffered deltas before any other event", () => {
  const { push, passed } = open();
  for (const event of [thought("a"), thought("b"), text("c"), text("d"), end]) push(event);
  expect(passed).toEqual([thought("a"), thought("b"), text("cd"), end]);
});

it("emits only the latest progress of each call every 150 ms", () => {
  const { push, passed, cursors, timers, tick } = open();
  for (const line of ["1", "12", "123"]) for (const call of ["a", "b"]) push(progress(call, line));
  expect(passed).toEqual([progress("a", "1")]);
  tick();
  expect(passed).toEqual([progress("a", "1"), progress("a", "123"), progress("b", "123")]);
  // Each event keeps its own cursor, so a viewer can resume between the two.
  expect(cursors).toEqual(["1", "5", "6"]);
  push(progress("a", "1234"));
  push(end);
  expect(passed.slice(-2)).toEqual([progress("a", "1234"), end]);
  tick();
  expect(timers).toEqual([]);
});

it("drops buffered events when it ends", () => {
  const { push, end: leave, passed, timers } = open();
  push(text("a"));
  push(text("b"));
  leave();
  expect(timers).toEqual([]);
  expect(passed).toEqual([text("a")]);
});
