import { createHash } from "node:crypto";
import { describeWhen, readWhen, type Schedule } from "@signalbox/schedules";
import type { CronRequest } from "@signalbox/tools";
import type { WakingRun } from "./ports.ts";
import type { ScheduledWakes, Wake } from "./scheduled-wakes.ts";
import { placeOf } from "./wake.ts";

/** Schedules of one conversation. */
export const MOST_SCHEDULES = 50;

/** What the cron tool does: an agent reaches the schedules of its own conversation. */
export function createCronHandler(
  scheduler: Pick<ScheduledWakes, "list" | "add" | "remove" | "run">,
  now: () => number,
) {
  const ofSession = ({ sessionKey }: WakingRun): Schedule<Wake>[] =>
    scheduler.list().filter(({ task }) => task.sessionKey === sessionKey);

  const add = async (
    { text, when: written, zone, missed = "once" }: Extract<CronRequest, { action: "add" }>,
    run: WakingRun,
    callId: string,
  ): Promise<string> => {
    const id = nameOf(run, callId).slice(0, 8);
    const others = ofSession(run).filter((schedule) => schedule.id !== id);
    if (others.length >= MOST_SCHEDULES)
      throw new Error(`This conversation has ${MOST_SCHEDULES} schedules already: remove one first.`);
    const when = readWhen({ ...written, ...(zone === undefined ? {} : { zone }) }, now());
    const { agent, sessionKey, event } = run;
    const task: Wake = { agentId: agent.id, sessionKey, text, place: placeOf(event) };
    await scheduler.add({ id, when, missed, task });
    return `Scheduled as ${id}: ${describeWhen(when)}.`;
  };

  const ownId = (id: string, run: WakingRun): string => {
    if (ofSession(run).some((schedule) => schedule.id === id)) return id;
    throw new Error(`This conversation has no schedule ${id}. \`list\` shows those it has.`);
  };

  return async (
    request: CronRequest,
    run: WakingRun,
    { callId }: { readonly callId: string },
  ): Promise<string> => {
    switch (request.action) {
      case "add":
        return add(request, run, callId);
      case "list":
        return describeSchedules(ofSession(run));
      case "remove":
        await scheduler.remove(ownId(request.id, run));
        return `Removed ${request.id}.`;
      case "run":
        return (await scheduler.run(ownId(request.id, run), nameOf(run, callId))) === "taken"
          ? `${request.id} runs as soon as this turn is over.`
          : `${request.id} cannot run just now.`;
    }
  };
}

/** The same for a call that is run again after a crash: it is the same schedule, or the same occurrence of one. */
function nameOf({ runId }: WakingRun, callId: string): string {
  return createHash("sha256").update(`${runId} ${callId}`).digest("hex").slice(0, 16);
}

function describeSchedules(schedules: readonly Schedule<Wake>[]): string {
  if (schedules.length === 0) return "Nothing is scheduled in this conversation.";
  return schedules
    .map(
      ({ id, when, nextAt, task }) =>
        `${id}: ${describeWhen(when)}, next ${new Date(nextAt).toISOString()}: ${task.text}`,
    )
    .join("\n");
}
