import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveHub } from "./hub.ts";

const SESSION = "web/main/c1";
const text = (delta: string): LiveEvent => ({ type: "text.delta", runId: "r", delta });
const start = (runId = "r"): LiveEvent => ({ type: "run.start", runId });
const end = (runId = "r"): LiveEvent => ({ type: "run.end", runId, outcome: "replied" });
const said = (id: string, words = id): LiveEvent => ({
  type: "message",
  message: { id, role: "assistant", text: words, at: 0 },
});
const progress = (words: string): LiveEvent => ({
  type: "tool.update",
  runId: "r",
  call: { id: "t", name: "exec", text: words },
});

function open() {
  let ids = 0;
  const hub = createLiveHub(
    (error) => {
      throw error;
    },
    () => `log${++ids}`,
  );
  const events = (after?: string) => hub.resume(SESSION, after).events.map(({ event }) => event);
  return { hub, events, publish: (event: LiveEvent) => hub.publish(SESSION, event) };
}

/** Joins consecutive text deltas, as a viewer does. */
function joinDeltas(events: readonly LiveEvent[]): readonly LiveEvent[] {
  const shown: LiveEvent[] = [];
  for (const event of events) {
    const last = shown.at(-1);
    if (event.type === "text.delta" && last?.type === "text.delta") {
      shown.splice(-1, 1, { ...last, delta: last.delta + event.delta });
    } else shown.push(event);
  }
  return shown;
}

it("resumes at any position without gaps or duplicates", () => {
  const script = [start(), text("One"), text(" two"), said("m1"), text("Th"), text("ree"), end(), said("m2")];
  for (let away = 0; away < script.length; away++) {
    const { hub, events, publish } = open();
    hub.resume(SESSION);
    let cursor = "";
    const seen: LiveEvent[] = [];
    const leave = hub.subscribe(SESSION, (event, place) => {
      seen.push(event);
      cursor = place;
    });
    for (const event of script.slice(0, away + 1)) publish(event);
    leave();
    for (const event of script.slice(away + 1)) publish(event);
    expect(hub.resume(SESSION, cursor).resumed).toBe(true);
    expect(joinDeltas([...seen, ...events(cursor)])).toEqual(joinDeltas(script));
  }
});

it("invalidates cursors when text is retracted", () => {
  const { hub, publish } = open();
  hub.resume(SESSION);
  publish(start());
  const { cursor } = hub.resume(SESSION);
  publish(text("Never mi"));
  const after = hub.resume(SESSION).cursor;
  hub.retract(SESSION);
  publish(text("Hello"));
  for (const place of [cursor, after]) {
    const { resumed, events } = hub.resume(SESSION, place);
    expect(resumed).toBe(false);
    expect(events.map(({ event }) => event)).toEqual([start(), text("Hello")]);
  }
});

it.each(["", "log1", "log1.", "log1.99", "log1.-1", "log1.0.5", "other.0", "log1.1e0x"])(
  "returns the current run for the invalid cursor %j",
  (cursor) => {
    const { hub, publish } = open();
    hub.resume(SESSION);
    publish(start());
    publish(text("Hello"));
    const { resumed, events } = hub.resume(SESSION, cursor);
    expect([resumed, events.length]).toEqual([false, 2]);
  },
);

it("keeps only the latest progress of a call", () => {
  const { events, publish } = open();
  for (const event of [start(), ...Array.from({ length: 1_000 }, (_, n) => progress(String(n)))])
    publish(event);
  expect(events()).toEqual([start(), progress("999")]);
});

it("does not resume if older events were evicted, but keeps the whole current run", () => {
  const { hub, events, publish } = open();
  const { cursor } = hub.resume(SESSION);
  const long = "x".repeat(50_000);
  for (const id of ["m1", "m2", "m3"]) publish(said(id, long));
  expect(hub.resume(SESSION, cursor)).toMatchObject({ resumed: true, events: { length: 3 } });
  publish(start());
  for (const id of ["m4", "m5", "m6"]) publish(said(id, long));
  expect(hub.resume(SESSION, cursor).resumed).toBe(false);
  expect(events()).toHaveLength(4);
});

it("keeps no events of sessions without viewers, and those of 200 sessions with viewers", () => {
  const { hub } = open();
  const run = [start(), text("Hello"), end()];
  for (const event of run) hub.publish("feishu/main/g1", event);
  expect(hub.resume("feishu/main/g1", "log1.0").resumed).toBe(false);
  const cursors = Array.from({ length: 300 }, (_, n) => hub.resume(`s${n}`).cursor);
  const kept = cursors.filter((cursor, n) => hub.resume(`s${299 - n}`, cursors[299 - n]).resumed && cursor);
  expect(kept).toHaveLength(200);
});

it("discards the events of a removed session", () => {
  const { hub, events, publish } = open();
  const { cursor } = hub.resume(SESSION);
  for (const event of [start(), said("m1", "a secret"), end()]) publish(event);
  expect(events(cursor)).toHaveLength(3);
  hub.forget(SESSION);
  expect(hub.resume(SESSION, cursor)).toMatchObject({ resumed: false, events: [] });
});

it("shows the whole of a resumed run to viewers of an earlier process, also after its end", () => {
  const { hub, events, publish } = open();
  hub.keepResumed(SESSION, "r");
  const script = [start(), text("The rest"), said("m1"), end(), said("m2")];
  for (const event of script) publish(event);
  const shown = hub.resume(SESSION, "another log.7");
  expect(shown).toMatchObject({ resumed: false });
  expect(shown.events.map(({ event }) => event)).toEqual(script);
  // A new viewer reads the history, and a later run takes its place.
  expect(events()).toEqual([]);
  for (const event of [start("later"), end("later")]) publish(event);
  expect(events("another log.7")).toEqual([]);
});

it("keeps no events of an ended run that was not resumed for viewers of an earlier process", () => {
  const { events, publish } = open();
  for (const event of [start(), said("m1"), end()]) publish(event);
  expect(events("another log.7")).toEqual([]);
});
