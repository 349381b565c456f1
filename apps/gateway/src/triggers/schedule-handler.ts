import { randomBytes } from "node:crypto";
import type { NewSchedule, ScheduleInfo, ScheduleResult, ScheduleRun } from "@signalbox/protocol";
import type { LiveConfig } from "../configure/live-config.ts";
import { MAX_SCHEDULES } from "./cron-handler.ts";
import { listScheduled } from "./list-scheduled.ts";
import { createPagePlace, type Destination } from "./page-place.ts";
import type { KeyValues } from "./schedule-store.ts";
import { listStoredSchedules, type ScheduledTask, type ScheduledTriggers } from "./scheduled-triggers.ts";
import { readWhen, WhenError } from "./schedules/when.ts";
import { getPlace } from "./trigger.ts";
import type { TriggerStore } from "./types.ts";

/** Changes schedules, wherever their agents run. */
export interface SchedulesOfAgents extends Pick<ScheduledTriggers, "add" | "remove" | "pause"> {
  run(id: string): ReturnType<ScheduledTriggers["run"]>;
}

export interface ScheduleHandlerOptions {
  readonly scheduled: SchedulesOfAgents;
  readonly store: { readonly kv: KeyValues; readonly inbox: TriggerStore["inbox"] };
  readonly config: LiveConfig;
  readonly now: () => number;
}

/** Actions of owners on schedules, outside a conversation. */
export interface ScheduleHandler {
  schedules(): Promise<ScheduleInfo[]>;
  addSchedule(wanted: NewSchedule): Promise<ScheduleResult>;
  removeSchedule(id: string): Promise<boolean>;
  runSchedule(id: string): Promise<ScheduleRun["outcome"] | "unknown">;
}

/** Thrown if a schedule was not created. The message is for the person. */
class NotScheduled extends Error {}

export function createScheduleHandler(ports: ScheduleHandlerOptions): ScheduleHandler {
  const { scheduled, store, now } = ports;

  const add = async (wanted: NewSchedule): Promise<string> => {
    const { text, at, in: within, every, cron, zone, missed = "once" } = wanted;
    const written = Object.entries({ at, in: within, every, cron, zone }).filter(
      ([, value]) => value !== undefined,
    );
    const when = readWhen(Object.fromEntries(written), now());
    const task: ScheduledTask = { ...(await findDestination(wanted, ports)), text };
    const all = await listStoredSchedules(store.kv);
    const theirs = all.filter(({ task: { sessionKey } }) => sessionKey === task.sessionKey);
    if (theirs.length >= MAX_SCHEDULES)
      throw new NotScheduled(`That conversation already has ${MAX_SCHEDULES} schedules.`);
    const id = randomBytes(4).toString("hex");
    await scheduled.add({ id, when, missed, task });
    return id;
  };

  return {
    schedules: () => listScheduled(store.kv),
    async addSchedule(wanted) {
      try {
        const id = await add(wanted);
        const schedule = (await listScheduled(store.kv)).find((each) => each.id === id);
        return schedule === undefined
          ? { ok: false, message: "Its time has passed." }
          : { ok: true, schedule };
      } catch (error) {
        if (error instanceof WhenError || error instanceof NotScheduled)
          return { ok: false, message: error.message };
        throw error;
      }
    },
    removeSchedule: (id) => scheduled.remove(id),
    runSchedule: (id) => scheduled.run(id),
  };
}

/** Number of recent messages to search for one from an owner. */
const MAX_SEARCHED = 200;

/**
 * Returns the conversation of a schedule. The schedule acts for the owner who wrote in the conversation, or otherwise
 * for the owner on the page.
 */
async function findDestination(
  { session, agent: agentId }: NewSchedule,
  { config, store }: ScheduleHandlerOptions,
): Promise<Destination & { readonly agentId: string }> {
  if (session === undefined) {
    const { agents } = config.current();
    const agent = agents.get(agentId ?? agents.defaultId);
    if (agent === undefined) throw new NotScheduled(`There is no agent ${agentId}.`);
    return { agentId: agent.id, ...createPagePlace(agent.id, "schedules") };
  }
  if (agentId !== undefined)
    throw new NotScheduled(
      "A conversation already has an agent: give either a conversation or an agent, not both.",
    );
  const rows = await store.inbox.list({ sessionKey: session, limit: MAX_SEARCHED });
  const last = rows.find(({ payload: { event, role } }) => role === "owner" && event.channel !== "api");
  if (last?.route === undefined)
    throw new NotScheduled(
      `No owner has written in ${session} recently. \`signalbox sessions\` lists conversations.`,
    );
  return { agentId: last.route.agentId, sessionKey: session, place: getPlace(last.payload.event) };
}
