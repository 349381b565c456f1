import type { MessageEvent } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { ALL_SEATS } from "@signalbox/home";
import { createManualClock } from "@signalbox/lanes/testkit";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createCronHandler } from "./cron-handler.ts";
import { createScheduledTriggers, type ScheduledTriggers } from "./scheduled-triggers.ts";
import type { TriggerTerms } from "./trigger.ts";
import type { TriggerBodies, TriggeringRun } from "./types.ts";

const HOUR = 3_600_000;
const agent: TriggeringRun["agent"] = {
  id: "coder",
  subAgents: { maxDepth: 1, maxAtOnce: 4, maxTasks: 20, limits: {} },
};

function runIn(room: string): TriggeringRun {
  const event = plainMessage({ address: room, conversation: { id: room, kind: "direct" } });
  return { agent, event, messageId: "m", sessionKey: `agent:coder:plain:direct:${room}`, runId: "r" };
}

/** Schedules that run, the handler over them, and what the agent was told. */
async function world() {
  const clock = createManualClock(Date.UTC(2026, 5, 1, 12));
  const { kv, close } = await openStore<TriggerBodies>({ path: ":memory:" });
  onTestFinished(close);
  const told: MessageEvent[] = [];
  const terms: TriggerTerms[] = [];
  const waiting: { readonly sessionKey: string; readonly eventId: string }[] = [];
  const waits = (of: string, ids: string) =>
    waiting.some(({ sessionKey, eventId }) => sessionKey === of && eventId.startsWith(ids));
  const restart = async (): Promise<ScheduledTriggers> => {
    const wakes = createScheduledTriggers({ kv, clock, logger: { warn() {} }, seats: ALL_SEATS });
    await wakes.start(async (event, under) => {
      told.push(event);
      terms.push(under);
      return { outcome: "taken" };
    }, waits);
    onTestFinished(() => wakes.stop());
    return wakes;
  };
  const wakes = await restart();
  return {
    clock,
    wakes,
    told,
    terms,
    waiting,
    restart,
    handle: createCronHandler(wakes, { now: clock.now, getTimeZone: () => "Asia/Shanghai" }),
  };
}

const inAnHour = { action: "add", text: "look at the build", when: { in: "1h" } } as const;

it("tells the agent in the conversation that asked for it", async () => {
  const { clock, told, handle } = await world();
  await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  await clock.advance(HOUR + 1);
  await expect.poll(() => told).toHaveLength(1);
  expect(told[0]).toMatchObject({ address: "kitchen", text: expect.stringContaining("look at the build") });
});

it("confirms a schedule with its next time, in the zone that was given and the sender's", async () => {
  const { handle } = await world();
  const run = runIn("kitchen");
  const add = (when: object, zone?: string) =>
    handle({ action: "add", text: "look", when, zone }, run, { callId: JSON.stringify([when, zone]) });
  expect(await add({ cron: "0 9 * * 1-5" })).toMatch(
    /^Scheduled as \w{8}: 0 9 \* \* 1-5 \(Asia\/Shanghai\)\. It runs next on Tue 2026-06-02 09:00 Asia\/Shanghai\. Its answers appear in this conversation\.$/,
  );
  expect(await add({ cron: "0 9 * * *" }, "Europe/Berlin")).toMatch(
    /next on Tue 2026-06-02 09:00 Europe\/Berlin, which is Tue 2026-06-02 15:00 Asia\/Shanghai\. Its/,
  );
  expect(await add({ at: "2026-06-03T18:00" })).toMatch(/next on Wed 2026-06-03 18:00 Asia\/Shanghai\. Its/);
  expect(await add({ in: "2h" })).toMatch(/next on Mon 2026-06-01 22:00 Asia\/Shanghai\. Its/);
  expect(await handle({ action: "list" }, run, { callId: "list" })).toContain(
    "at 2026-06-03T10:00:00.000Z, next Wed 2026-06-03 18:00 Asia/Shanghai: look",
  );
});

it("asks back if a time zone is an abbreviation with several meanings", async () => {
  const { wakes, handle } = await world();
  const add = { action: "add", text: "look", when: { cron: "0 9 * * *" }, zone: "CST" } as const;
  await expect(handle(add, runIn("kitchen"), { callId: "c1" })).rejects.toThrow(
    '"CST" can mean America/Chicago, America/Havana or Asia/Shanghai.',
  );
  expect(wakes.list()).toEqual([]);
});

it("ends with its conversation, over a restart too, and no other does", async () => {
  const { clock, wakes, told, handle, restart } = await world();
  for (const room of ["kitchen", "office"]) await handle(inAnHour, runIn(room), { callId: room });
  await wakes.endOf(runIn("kitchen").sessionKey);
  wakes.stop();
  await restart();
  await clock.advance(HOUR + 1);
  await expect.poll(() => told).toMatchObject([{ address: "office" }]);
});

it("comes once where it was due several times while it waited behind a run, and at once where somebody wants it", async () => {
  const { clock, wakes, told, handle, waiting } = await world();
  const run = runIn("kitchen");
  await handle({ action: "add", text: "look", when: { every: "1m" } }, run, { callId: "c1" });
  await clock.advance(60_001);
  await expect.poll(() => told).toHaveLength(1);
  waiting.push(...told.map(({ eventId }) => ({ sessionKey: run.sessionKey, eventId })));
  await clock.advance(10 * 60_000);
  expect(told).toHaveLength(1);
  const [{ id } = { id: "" }] = wakes.list();
  expect(await wakes.run(id, "now")).toBe("taken");
  waiting.length = 0;
  await clock.advance(5_000);
  await expect.poll(() => told).toHaveLength(3);
});

it("remembers that another conversation is behind it", async () => {
  const { clock, terms, handle } = await world();
  const run = runIn("kitchen");
  const { sessionKey } = run;
  const saidFrom = "agent:coder:plain:direct:hall";
  const trigger = { agentId: "coder", sessionKey, atMost: "owner", saidFrom } as const;
  await handle(inAnHour, { ...run, trigger }, { callId: "c1" });
  await clock.advance(HOUR + 1);
  await expect.poll(() => terms).toMatchObject([{ atMost: "system", saidFrom }]);
});

it("makes one schedule of a call that is made again", async () => {
  const { wakes, handle } = await world();
  const first = await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  expect(await handle(inAnHour, runIn("kitchen"), { callId: "c1" })).toBe(first);
  await handle(inAnHour, runIn("kitchen"), { callId: "c2" });
  expect(wakes.list()).toHaveLength(2);
});

it("has what had its time come once, also where the call that asked for it is made again", async () => {
  const { clock, wakes, told, handle } = await world();
  await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  await clock.advance(HOUR + 1);
  await expect.poll(() => told).toHaveLength(1);
  for (const _ of ["while it is handed over", "afterwards"]) {
    await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
    await expect.poll(() => wakes.list()).toEqual([]);
  }
  await clock.advance(2 * HOUR);
  expect(told).toHaveLength(1);
  await handle(inAnHour, runIn("kitchen"), { callId: "c2" });
  await clock.advance(HOUR + 1);
  await expect.poll(() => told).toHaveLength(2);
});

it("says what the first call did where one is made again once its time has passed", async () => {
  const { clock, wakes, handle } = await world();
  const at = new Date(clock.now() + HOUR).toISOString();
  const atThen = { action: "add", text: "look", when: { at } } as const;
  const first = [
    await handle(atThen, runIn("kitchen"), { callId: "at" }),
    await handle(inAnHour, runIn("kitchen"), { callId: "in" }),
  ];
  await wakes.stop();
  await clock.advance(2 * HOUR);
  expect([
    await handle(atThen, runIn("kitchen"), { callId: "at" }),
    await handle(inAnHour, runIn("kitchen"), { callId: "in" }),
  ]).toEqual(first);
});

it("says of a removal and of a schedule that they are over where the call is made again", async () => {
  const { clock, wakes, told, handle } = await world();
  await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  const id = wakes.list()[0]?.id ?? "";
  const remove = () => handle({ action: "remove", id }, runIn("kitchen"), { callId: "c2" });
  expect(await remove()).toBe(`Removed ${id}.`);
  expect(await remove()).toBe(`${id} is over and does not run again.`);
  expect(await handle(inAnHour, runIn("kitchen"), { callId: "c1" })).toBe(
    `Scheduled as ${id}, and already over.`,
  );
  await clock.advance(2 * HOUR);
  expect(told).toEqual([]);
});

it("warns of a schedule that the platform would reject, and adds it", async () => {
  const { wakes, clock } = await world();
  const delays: number[] = [];
  const warning = createCronHandler(wakes, {
    now: clock.now,
    getTimeZone: () => "UTC",
    async warnOfRefusal(_to, at) {
      delays.push(at - clock.now());
      return "Somebody must write before.";
    },
  });
  const outcome = await warning(inAnHour, runIn("kitchen"), { callId: "c1" });
  expect(outcome).toMatch(/^Scheduled as .* Somebody must write before\.$/);
  expect(delays).toEqual([HOUR]);
  expect(wakes.list()).toHaveLength(1);
});

it("says so where nothing is scheduled because its time has passed meanwhile", async () => {
  const { clock, wakes } = await world();
  const slow = createCronHandler(wakes, {
    now: () => clock.now() - 2 * HOUR,
    getTimeZone: () => "UTC",
  });
  await expect(slow(inAnHour, runIn("kitchen"), { callId: "c1" })).rejects.toThrow("Nothing was scheduled");
});

it("does not forget that a hook asked for it", async () => {
  const { clock, told, handle, wakes, restart } = await world();
  const run = runIn("kitchen");
  const forwarded = { from: "hook:build" };
  await handle(inAnHour, { ...run, event: { ...run.event, forwarded } }, { callId: "c1" });
  await wakes.stop();
  await clock.advance(HOUR + 1);
  await restart();
  await clock.advance(1);
  await expect.poll(() => told).toMatchObject([{ forwarded }]);
});

it("has a schedule happen once for a call that is run again", async () => {
  const { wakes, told, handle } = await world();
  await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  const id = wakes.list()[0]?.id ?? "";
  for (const callId of ["c2", "c2", "c3"]) await handle({ action: "run", id }, runIn("kitchen"), { callId });
  const [first, again, other] = told.map(({ eventId }) => eventId);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

it("leaves out what was missed while no gateway ran, where that was asked for", async () => {
  const { clock, told, wakes, handle, restart } = await world();
  await handle({ ...inAnHour, missed: "skip" }, runIn("kitchen"), { callId: "c1" });
  await handle(inAnHour, runIn("cellar"), { callId: "c2" });
  await wakes.stop();
  await clock.advance(2 * HOUR);
  const later = await restart();
  await clock.advance(1);
  await expect.poll(() => later.list()).toEqual([]);
  expect(told.map(({ address }) => address)).toEqual(["cellar"]);
});

it("shows, runs and removes nothing of another conversation", async () => {
  const { wakes, handle } = await world();
  await handle(inAnHour, runIn("kitchen"), { callId: "c1" });
  const id = wakes.list()[0]?.id ?? "";
  const other = runIn("cellar");
  expect(await handle({ action: "list" }, other, { callId: "c2" })).toContain("Nothing is scheduled");
  for (const action of ["run", "remove"] as const)
    await expect(handle({ action, id }, other, { callId: "c3" })).rejects.toThrow(`no schedule ${id}`);
  expect(await handle({ action: "remove", id }, runIn("kitchen"), { callId: "c4" })).toBe(`Removed ${id}.`);
  expect(wakes.list()).toEqual([]);
});

it("refuses the fifty-first schedule of a conversation, and no other conversation's first", async () => {
  const { handle } = await world();
  for (let count = 0; count < 50; count++) await handle(inAnHour, runIn("kitchen"), { callId: `c${count}` });
  await expect(handle(inAnHour, runIn("kitchen"), { callId: "more" })).rejects.toThrow("50 schedules");
  expect(await handle(inAnHour, runIn("cellar"), { callId: "first" })).toContain("Scheduled as");
  expect(await handle(inAnHour, runIn("kitchen"), { callId: "c0" })).toContain("Scheduled as");
});
