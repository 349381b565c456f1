import { describeWhen, type Schedule } from "@signalbox/schedules";
import { createHeartbeatStore } from "./heartbeat.ts";
import type { KeyValues } from "./schedule-store.ts";
import { createWakeStore } from "./scheduled-wakes.ts";

/** Something that an agent is to do by itself. Times are milliseconds since the epoch. */
export interface PlannedWake {
  readonly id: string;
  readonly agent: string;
  /** Absent for a heartbeat, which goes where it is to go by then. */
  readonly session?: string;
  /** In words. */
  readonly when: string;
  readonly nextAt: number;
  readonly lastAt?: number;
  readonly text: string;
}

/** What agents are to do by themselves, the soonest first, as it is on record. */
export async function listWakes(kv: KeyValues): Promise<PlannedWake[]> {
  const scheduled = await createWakeStore(kv, () => {}).list();
  const heartbeats = await createHeartbeatStore(kv, () => {}).list();
  const listed = [
    ...scheduled.map((schedule): PlannedWake => {
      const { agentId: agent, sessionKey: session, text } = schedule.task;
      return { id: schedule.id, agent, session, text, ...timesOf(schedule) };
    }),
    ...heartbeats.map((schedule): PlannedWake => {
      const { agentId: agent } = schedule.task;
      return { id: "heartbeat", agent, text: "HEARTBEAT.md of its workspace", ...timesOf(schedule) };
    }),
  ];
  return listed.toSorted((a, b) => a.nextAt - b.nextAt);
}

function timesOf({
  when,
  nextAt,
  lastAt,
}: Schedule<unknown>): Pick<PlannedWake, "when" | "nextAt" | "lastAt"> {
  return { when: describeWhen(when), nextAt, ...(lastAt === undefined ? {} : { lastAt }) };
}
