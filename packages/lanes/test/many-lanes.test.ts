import { describe, expect, it } from "vitest";
import { laneHarness, settle } from "./harness.ts";

describe("several lanes", () => {
  it("let owners take turns, so that many keys of one owner do not delay another owner", async () => {
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

  it("run concurrently up to maxRuns, then in the order of their waiting time", async () => {
    const { runs, say } = laneHarness({ mode: "followup" }, 2);
    for (const session of ["s1", "s2", "s3"]) {
      say(`${session} first`, session);
      say(`${session} second`, session);
    }
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first"]);
    runs[0]?.end();
    await settle();
    // s3 has waited longer than the second item of s1.
    expect(runs.map((run) => run.texts[0])).toEqual(["s1 first", "s2 first", "s3 first"]);
    runs[1]?.end();
    await settle();
    expect(runs[3]?.texts[0]).toBe("s1 second");
  });

  it("leave slots for privileged items and for other owners, whatever one owner starts", async () => {
    const { runs, say } = laneHarness({}, 16, (sender) => sender === "root");
    const running = (sender: string) => runs.filter(({ texts }) => texts[0]?.startsWith(sender)).length;
    for (let index = 0; index < 40; index++) say(`mallory ${index}`, `m${index}`, false, "mallory");
    expect(running("mallory")).toBe(8);
    for (let index = 0; index < 40; index++) say(`trudy ${index}`, `t${index}`, false, "trudy");
    say("ann 1", "a1", false, "ann");
    expect([running("trudy"), running("ann")]).toEqual([4, 1]);
    for (let person = 0; person < 40; person++)
      say(`guest ${person}`, `g${person}`, false, `guest-${person}`);
    expect(runs).toHaveLength(15);
    for (let index = 0; index < 3; index++) say(`root ${index}`, `r${index}`, false, "root");
    expect(running("root")).toBe(1);
    runs[0]?.end();
    await settle();
    expect(running("root")).toBe(2);
  });

  it("do not examine the whole backlog for each new item", async () => {
    let examined = 0;
    const { runs, say } = laneHarness({}, 2, () => {
      examined += 1;
      return false;
    });
    for (let index = 0; index < 1_000; index++) say("hello", `s${index}`);
    expect(runs).toHaveLength(1);
    expect(examined).toBeLessThan(5_000);
    examined = 0;
    runs[0]?.end();
    await settle();
    expect(runs).toHaveLength(2);
    expect(examined).toBeLessThan(20);
  });

  it.each([1, 2])("start runs of owners without a privilege even if maxRuns is %i", (maxRuns) => {
    const { runs, say } = laneHarness({}, maxRuns, (sender) => sender === "root");
    for (const session of ["a", "b"]) say(session, session, false, "ann");
    expect(runs).toHaveLength(1);
    say("root", "c", false, "root");
    expect(runs).toHaveLength(maxRuns);
  });

  it("are stopped by stopWhere only if they have a matching item", async () => {
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

  it("use the slot of a run that stands by, which takes it back without waiting", async () => {
    const { lanes, runs, say } = laneHarness({}, 1);
    const begun = (): string[] => runs.map(({ texts }) => texts.join());
    for (const session of ["a", "b", "c", "d"]) say(session, session);
    expect(begun()).toEqual(["a"]);
    runs[0]?.handle.standBy(true);
    // A second call has no further effect.
    runs[0]?.handle.standBy(true);
    expect(begun()).toEqual(["a", "b"]);
    runs[0]?.handle.standBy(false);
    expect(lanes.counts()).toEqual({ running: 2, waiting: 2 });
    runs[1]?.end();
    await settle();
    expect(begun()).toEqual(["a", "b"]);
    // The run is stopped while it stands by; a late standBy call has no effect.
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

  it("use the slots of at most four times maxRuns that stand by", async () => {
    const { lanes, runs, say } = laneHarness({}, 2);
    for (let index = 0; index < 15; index++) say("x", `s${index}`);
    for (let index = 0; index < runs.length; index++) runs[index]?.handle.standBy(true);
    expect(lanes.counts()).toEqual({ running: 10, waiting: 5 });
    // A run that continues takes a slot of its own.
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

  it("of an owner with too many runs standing by start no further run, without delaying other owners", async () => {
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

  it("of an owner with too many runs standing by start for items of other owners and for begun runs", async () => {
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
    // Her item is first in the lane, so it runs first.
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

  it("start no run in a freed slot after close", async () => {
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

  it("are removed when they are idle", async () => {
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

  it("close when the active runs have ended, and start no others", async () => {
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
