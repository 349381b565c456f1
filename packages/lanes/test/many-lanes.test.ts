import { describe, expect, it } from "vitest";
import { laneHarness, settle } from "./harness.ts";

describe("many sessions", () => {
  it("take turns by their senders: many sessions of one do not hold up the one of another", async () => {
    const { runs, say } = laneHarness({}, 1);
    for (let index = 1; index <= 5; index++) say(`anna ${index}`, `a${index}`, false, "anna");
    say("ben 1", "b1", false, "ben");
    say("ben 2", "b2", false, "ben");
    say("cleo 1", "c1", false, "cleo");
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs.map(({ texts }) => texts[0])).toEqual([
      ...["anna 1", "anna 2", "ben 1", "cleo 1", "anna 3", "ben 2", "anna 4", "anna 5"],
    ]);
  });

  it("run at once up to the limit, the one that waited longest next", async () => {
    const { runs, say } = laneHarness({ mode: "followup" }, 2);
    for (const session of ["s1", "s2", "s3"]) {
      say(`${session} first`, session);
      say(`${session} second`, session);
    }
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first"]);
    runs[0]?.end();
    await settle();
    // s3 has waited longer than the second message of s1.
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first", "s3 first"]);
    runs[1]?.end();
    await settle();
    expect(runs[3]?.texts[0]).toBe("s1 second");
  });

  it("are stopped where one has something of somebody in particular, and others are left alone", async () => {
    const { lanes, runs, dropped, say } = laneHarness({ mode: "followup" });
    say("anna runs", "a", false, "anna");
    say("ben waits behind her", "a", false, "ben");
    say("ben runs", "b", false, "ben");
    say("anna waits behind him", "b", false, "anna");
    lanes.stopWhere(({ sender }) => sender === "anna", new Error("anna left"));
    expect(runs.map(({ handle }) => handle.signal.aborted)).toEqual([true, false]);
    expect(dropped).toEqual(["anna waits behind him"]);
    for (const run of runs) run.end();
    await settle();
    expect(runs.map(({ texts }) => texts[0])).toEqual(["anna runs", "ben runs", "ben waits behind her"]);
  });

  it("go on in the place of one that only waits for a person; it never waits to go on itself", async () => {
    const { lanes, runs, say } = laneHarness({}, 1);
    const begun = (): string[] => runs.map(({ texts }) => texts.join());
    for (const session of ["a", "b", "c", "d"]) say(session, session);
    expect(begun()).toEqual(["a"]);
    runs[0]?.handle.standBy(true);
    // Several questions of one run are one wait.
    runs[0]?.handle.standBy(true);
    expect(begun()).toEqual(["a", "b"]);
    runs[0]?.handle.standBy(false);
    expect(lanes.counts()).toEqual({ running: 2, waiting: 2 });
    runs[1]?.end();
    await settle();
    expect(begun()).toEqual(["a", "b"]);
    // It ends while it waits, as when it is stopped, and is answered after that.
    runs[0]?.handle.standBy(true);
    expect(begun()).toEqual(["a", "b", "c"]);
    lanes.stop("a", new Error("enough"));
    runs[0]?.end();
    await settle();
    expect(begun()).toEqual(["a", "b", "c"]);
    for (const on of [false, true]) runs[0]?.handle.standBy(on);
    say("e", "a");
    expect(begun()).toEqual(["a", "b", "c"]);
    for (let index = 2; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(begun()).toEqual(["a", "b", "c", "d", "e"]);
    expect(lanes.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it("do not go on in the places of more than four times as many that wait for people", async () => {
    const { lanes, runs, say } = laneHarness({}, 2);
    for (let index = 0; index < 15; index++) say("x", `s${index}`);
    for (let index = 0; index < runs.length; index++) runs[index]?.handle.standBy(true);
    expect(lanes.counts()).toEqual({ running: 10, waiting: 5 });
    // One that is answered has its own place, and none of those beyond.
    runs[0]?.handle.standBy(false);
    expect(lanes.counts().running).toBe(10);
    runs[0]?.end();
    await settle();
    expect(lanes.counts().running).toBe(10);
    runs[1]?.end();
    await settle();
    expect(lanes.counts().running).toBe(10);
    for (const run of runs) run.handle.standBy(false);
    for (let index = 0; index < runs.length; index++) {
      expect(lanes.counts().running).toBeLessThanOrEqual(10);
      runs[index]?.end();
      await settle();
    }
    expect(runs).toHaveLength(15);
    expect(lanes.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it("of one sender who leaves too many waiting start no more, and hold up nobody else", async () => {
    const { lanes, runs, say } = laneHarness({}, 1);
    const begun = (): string[] => runs.map(({ texts }) => texts.join());
    for (let index = 1; index <= 6; index++) say(`anna ${index}`, `a${index}`, false, "anna");
    for (let index = 0; index < runs.length; index++) runs[index]?.handle.standBy(true);
    expect(begun()).toEqual(["anna 1", "anna 2"]);
    for (let index = 1; index <= 2; index++) say(`ben ${index}`, `b${index}`, false, "ben");
    expect(begun().slice(2)).toEqual(["ben 1"]);
    runs[2]?.end();
    await settle();
    expect(begun().slice(3)).toEqual(["ben 2"]);
    runs[3]?.end();
    await settle();
    expect(begun().slice(4)).toEqual([]);
    runs[0]?.handle.standBy(false);
    expect(begun().slice(4)).toEqual([]);
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(begun().slice(4)).toEqual(["anna 3", "anna 4", "anna 5", "anna 6"]);
    expect(lanes.counts()).toEqual({ running: 0, waiting: 0 });
  });

  it("of one sender who leaves too many waiting start for others who write in them, and go on where they have begun", async () => {
    const { lanes, runs, say } = laneHarness({ mode: "followup" }, 1);
    const begun = (): string[] => runs.map(({ texts }) => texts.join());
    for (const session of ["a1", "a2"]) {
      say(`anna ${session}`, session, false, "anna");
      runs.at(-1)?.handle.standBy(true);
    }
    say("anna in the group", "group", false, "anna");
    say("anna in another", "other", false, "anna");
    const gone = say("anna in a third", "third", false, "anna");
    expect(begun()).toHaveLength(2);
    say("ben in the group", "group", false, "ben");
    // What stands in front is hers, and is answered in its turn.
    expect(begun().slice(2)).toEqual(["anna in the group"]);
    runs[2]?.end();
    await settle();
    expect(begun().slice(3)).toEqual(["ben in the group"]);
    runs[3]?.end();
    await settle();
    expect(begun().slice(4)).toEqual([]);
    lanes.withdraw("third", gone);
    say("ben in a third", "third", false, "ben");
    expect(begun().slice(4)).toEqual(["ben in a third"]);
    runs[4]?.end();
    await settle();
    const [begunBefore] = lanes.all("other");
    if (begunBefore === undefined) throw new Error("nothing waits");
    lanes.enqueue({ ...begunBefore, session: "resumed", exclusive: true, covers: [begunBefore.id] });
    expect(runs).toHaveLength(6);
    expect(lanes.counts().waiting).toBe(1);
  });

  it("that wait for people keep no gateway from its end, and start nothing after it", async () => {
    const { lanes, runs, say } = laneHarness({}, 1);
    say("a", "a");
    say("b", "b");
    const closing = lanes.close();
    runs[0]?.handle.standBy(true);
    expect(runs).toHaveLength(1);
    runs[0]?.end();
    await closing;
    expect(runs).toHaveLength(1);
  });

  it("forgets sessions without work", async () => {
    const { lanes, runs, say } = laneHarness();
    for (let index = 0; index < 100; index++) say("x", `s${index}`);
    for (let index = 0; index < runs.length; index++) {
      runs[index]?.end();
      await settle();
    }
    expect(runs).toHaveLength(100);
    expect(lanes.counts()).toEqual({ running: 0, waiting: 0 });
    expect(lanes.busy("s0")).toBe(false);
  });

  it("closes when the running turns have ended and starts no others", async () => {
    const { lanes, runs, say } = laneHarness({ mode: "followup" });
    say("a");
    say("b");
    let closed = false;
    const closing = lanes.close().then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    lanes.stopAll(new Error("enough"));
    expect(runs[0]?.handle.signal.aborted).toBe(true);
    runs[0]?.end();
    await closing;
    expect(runs).toHaveLength(1);
  });
});
