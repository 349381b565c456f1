import type { Seats } from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import { z } from "zod";
import { createScheduleStore, type KeyValues } from "./schedule-store.ts";
import type { Occurrence, Schedule, ScheduleStore } from "./schedules/schedule.ts";
import { createScheduler, type Scheduler } from "./schedules/scheduler.ts";
import { type EmitTrigger, messageAt, type Place, placeSchema } from "./trigger.ts";
import type { TriggerLogger, TriggerStore } from "./types.ts";

/**
 * The text for the agent and the conversation for the answer. The task runs with the rights that the requester has when
 * it is due.
 */
export interface ScheduledTask {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly text: string;
  readonly place: Place;
  /** The other conversation from which the schedule originates. Its results are restricted like its input. */
  readonly saidFrom?: string;
}

const storedTask = z.object({
  agentId: z.string(),
  sessionKey: z.string(),
  text: z.string(),
  place: placeSchema,
  saidFrom: z.string().optional(),
});

const SCHEDULES = "schedules";
/** Namespace for the ids of ended schedules. A call may be repeated after a crash while its id is stored. */
const ENDED = "schedules-over";
const ENDED_TTL_MS = 7 * 24 * 60 * 60_000;

/** Creates a store for scheduled tasks in the host's store. */
export function createScheduledTaskStore(
  kv: KeyValues,
  onUnreadable: (id: string) => void,
): ScheduleStore<ScheduledTask> {
  const store = createScheduleStore(kv, SCHEDULES, storedTask, onUnreadable);
  return {
    ...store,
    async remove(id) {
      await kv.set(ENDED, id, true, ENDED_TTL_MS);
      await store.remove(id);
    },
  };
}

/** A schedule to add. */
export type NewScheduledTask = Parameters<Scheduler<ScheduledTask>["add"]>[0];

/** Returns the stored schedules of all agents, wherever they run. */
export function listStoredSchedules(kv: KeyValues): Promise<readonly Schedule<ScheduledTask>[]> {
  return createScheduledTaskStore(kv, () => {}).list();
}

/** Tasks that agents have scheduled. The id of an ended schedule is kept for a week. */
export interface ScheduledTriggers extends Omit<Scheduler<ScheduledTask>, "start"> {
  /**
   * Returns the stored outcome for an id, for calls that are repeated after a crash. Returns undefined if the id is
   * unused.
   */
  recall(id: string): Promise<Schedule<ScheduledTask> | "over" | undefined>;
  /** Ends all schedules of a session. */
  endOf(sessionKey: string): Promise<void>;
  /**
   * Loads the stored schedules and starts to trigger agents.
   *
   * @param isWaiting returns true if an event whose id starts with the prefix is waiting in a session. A recurring
   * schedule is then skipped, so that it does not pile up behind a long run. Default: always false.
   */
  start(trigger: EmitTrigger, isWaiting?: (sessionKey: string, eventIds: string) => boolean): Promise<void>;
}

export interface ScheduledTriggersOptions {
  readonly kv: KeyValues & Pick<TriggerStore["kv"], "get">;
  readonly clock: Clock;
  readonly logger: TriggerLogger;
  readonly seats: Seats;
}

export function createScheduledTriggers({
  kv,
  clock,
  logger,
  seats,
}: ScheduledTriggersOptions): ScheduledTriggers {
  const store = createScheduledTaskStore(kv, (id) =>
    logger.warn({ schedule: id }, "a schedule cannot be read"),
  );
  const isOwn = ({ agentId, sessionKey }: ScheduledTask): boolean => seats.isHere(agentId, sessionKey);
  const scheduler = createScheduler<ScheduledTask>({ store, clock, logger, isOwn });
  return {
    list: () => scheduler.list(),
    add: (schedule) => scheduler.add(schedule),
    remove: (id) => scheduler.remove(id),
    pause: (id, isPaused) => scheduler.pause(id, isPaused),
    run: (id, name) => scheduler.run(id, name),
    reload: () => scheduler.reload(),
    stop: () => scheduler.stop(),
    async endOf(sessionKey) {
      const theirs = scheduler.list().filter(({ task }) => task.sessionKey === sessionKey);
      for (const { id } of theirs) await scheduler.remove(id);
    },
    async recall(id) {
      const onRecord = (await store.list()).find((schedule) => schedule.id === id);
      if (onRecord !== undefined) return onRecord;
      return (await kv.get(ENDED, id)) === undefined ? undefined : "over";
    },
    async start(trigger, waits = () => false) {
      await scheduler.start(async (occurrence) =>
        isTimed(occurrence) && waits(occurrence.schedule.task.sessionKey, getEventIdPrefix(occurrence))
          ? "later"
          : triggerSchedule(occurrence, trigger),
      );
    },
  };
}

/** Returns true if the schedule is due, or false if a person triggered it. */
function isTimed({ name, dueAt }: Occurrence<ScheduledTask>): boolean {
  return name === String(dueAt);
}

/** Returns the prefix of the event ids of all occurrences of a schedule. */
function getEventIdPrefix({ schedule: { id } }: Occurrence<ScheduledTask>): string {
  return `schedule:${id}:`;
}

/**
 * Passes a due schedule to its agent in its session. The gateway is the sender, because no person wrote the message.
 */
async function triggerSchedule(
  occurrence: Occurrence<ScheduledTask>,
  trigger: EmitTrigger,
): Promise<"taken" | "later"> {
  const { schedule, name, dueAt } = occurrence;
  const { id, task } = schedule;
  const { agentId, sessionKey, saidFrom } = task;
  const text = `[The schedule ${id} is due]\n${task.text}`;
  const event = messageAt(task.place, { eventId: `${getEventIdPrefix(occurrence)}${name}`, dueAt, text });
  const { outcome } = await trigger(event, {
    agentId,
    sessionKey,
    atMost: "system",
    saidFrom,
  });
  return outcome === "rejected" ? "later" : "taken";
}
