import { createHash } from "node:crypto";
import type { MessageEvent } from "@signalbox/channel";
import { formatTimestamp } from "@signalbox/prompt";
import type { CronRequest } from "@signalbox/tools";
import type { ScheduledTask, ScheduledTriggers } from "./scheduled-triggers.ts";
import type { Schedule } from "./schedules/schedule.ts";
import { describeWhen, nextDue, readWhen } from "./schedules/when.ts";
import { getPlace, type Place } from "./trigger.ts";
import type { TriggeringRun } from "./types.ts";

/** Names the place of the answers, because people ask where a reminder will appear. */
const ANSWERS_HERE = "Its answers appear in this conversation.";
/** Maximum number of schedules in one conversation. */
export const MAX_SCHEDULES = 50;

export interface CronHandlerOptions {
  readonly now: () => number;
  /** Returns the time zone of a message's sender. Times without a zone are parsed and shown in this zone. */
  readonly getTimeZone: (event: MessageEvent) => string;
  /** Returns a warning for the model if the platform would reject the answer at that time. Default: none. */
  readonly warnOfRefusal?: (to: Place, at: number) => Promise<string | undefined>;
}

/**
 * Creates the handler for the cron tool. An agent can only access the schedules of the conversation in which it is
 * running.
 */
export function createCronHandler(
  scheduler: Pick<ScheduledTriggers, "list" | "recall" | "add" | "remove" | "run">,
  { now, getTimeZone, warnOfRefusal = async () => undefined }: CronHandlerOptions,
) {
  const ofSession = ({ sessionKey }: TriggeringRun): Schedule<ScheduledTask>[] =>
    scheduler.list().filter(({ task }) => task.sessionKey === sessionKey);

  const add = async (
    { text, when: written, zone, missed = "once" }: Extract<CronRequest, { action: "add" }>,
    run: TriggeringRun,
    callId: string,
  ): Promise<string> => {
    const id = createScheduleId(run, callId).slice(0, 8);
    // A call that is repeated after a crash returns the outcome of the first call, even if the schedule is already due.
    const earlier = await scheduler.recall(id);
    if (earlier === "over") return `Scheduled as ${id}, and already over.`;
    const zoneOfPerson = getTimeZone(run.event);
    const zones = [zone ?? zoneOfPerson, zoneOfPerson];
    if (earlier !== undefined) return confirm(earlier, zones);
    if (ofSession(run).length >= MAX_SCHEDULES)
      throw new Error(`This conversation already has ${MAX_SCHEDULES} schedules. Remove one first.`);
    const when = readWhen({ ...written, zone: zone ?? zoneOfPerson }, now());
    const { agent, sessionKey, event, trigger } = run;
    const task: ScheduledTask = {
      agentId: agent.id,
      sessionKey,
      text,
      place: getPlace(event),
      saidFrom: trigger?.saidFrom === undefined ? undefined : trigger.saidFrom,
    };
    const nextAt = nextDue(when, now());
    if (nextAt === undefined || !(await scheduler.add({ id, when, missed, task })))
      throw new Error("Nothing was scheduled: that time has already passed.");
    const warning = await warnOfRefusal(task.place, nextAt);
    const confirmation = confirm({ id, when, nextAt }, zones);
    return warning === undefined ? confirmation : `${confirmation} ${warning}`;
  };

  /** Executes an action on a schedule in this conversation. If the schedule has ended, only returns this fact. */
  const withOwn = async (
    id: string,
    run: TriggeringRun,
    carryOut: () => Promise<string>,
  ): Promise<string> => {
    if (ofSession(run).some((schedule) => schedule.id === id)) return carryOut();
    if ((await scheduler.recall(id)) === "over") return `${id} is over and does not run again.`;
    throw new Error(`This conversation has no schedule ${id}. \`list\` shows its schedules.`);
  };

  return async (
    request: CronRequest,
    run: TriggeringRun,
    { callId }: { readonly callId: string },
  ): Promise<string> => {
    switch (request.action) {
      case "add":
        return add(request, run, callId);
      case "list":
        return describeSchedules(ofSession(run), getTimeZone(run.event));
      case "remove":
        return withOwn(request.id, run, async () => {
          await scheduler.remove(request.id);
          return `Removed ${request.id}.`;
        });
      case "run":
        return withOwn(request.id, run, async () =>
          (await scheduler.run(request.id, createScheduleId(run, callId))) === "taken"
            ? `${request.id} runs as soon as this turn is over.`
            : `${request.id} cannot run right now.`,
        );
    }
  };
}

/** Returns the id of the schedule or occurrence. It is the same if the call is repeated after a crash. */
function createScheduleId({ runId }: TriggeringRun, callId: string): string {
  return createHash("sha256").update(`${runId} ${callId}`).digest("hex").slice(0, 16);
}

/**
 * Confirms the schedule with its next time, so that a misunderstood time or time zone is noticed immediately.
 *
 * @param zones the schedule's time zone and the sender's
 */
function confirm(
  { id, when, nextAt }: Pick<Schedule<ScheduledTask>, "id" | "when" | "nextAt">,
  zones: readonly string[],
): string {
  const times = [...new Set(zones)].map((zone) => formatTimestamp(nextAt, zone)).join(", which is ");
  return `Scheduled as ${id}: ${describeWhen(when)}. It runs next on ${times}. ${ANSWERS_HERE}`;
}

function describeSchedules(schedules: readonly Schedule<ScheduledTask>[], zone: string): string {
  if (schedules.length === 0) return "Nothing is scheduled in this conversation.";
  const lines = schedules.map(
    ({ id, when, nextAt, task }) =>
      `${id}: ${describeWhen(when)}, next ${formatTimestamp(nextAt, zone)}: ${task.text}`,
  );
  return ["The answers of these schedules appear in this conversation.", ...lines].join("\n");
}
