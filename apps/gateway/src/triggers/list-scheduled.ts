import type { ScheduleInfo } from "@signalbox/protocol";
import { createHeartbeatStore } from "./heartbeat.ts";
import type { KeyValues } from "./schedule-store.ts";
import { createScheduledTaskStore } from "./scheduled-triggers.ts";
import type { Schedule } from "./schedules/schedule.ts";
import { describeWhen } from "./schedules/when.ts";
import type { Place } from "./trigger.ts";

/** Lists the stored schedules of all agents, soonest first. */
export async function listScheduled(kv: KeyValues): Promise<ScheduleInfo[]> {
  const scheduled = await createScheduledTaskStore(kv, () => {}).list();
  const heartbeats = await createHeartbeatStore(kv, () => {}).list();
  const listed = [
    ...scheduled.map((schedule): ScheduleInfo => {
      const { agentId: agent, sessionKey: session, text, place } = schedule.task;
      return { id: schedule.id, agent, session, place: toPlaceInfo(place), text, ...describeTimes(schedule) };
    }),
    ...heartbeats.map((schedule): ScheduleInfo => {
      const { agentId: agent } = schedule.task;
      return { id: "heartbeat", agent, text: "HEARTBEAT.md of its workspace", ...describeTimes(schedule) };
    }),
  ];
  return listed.toSorted((a, b) => a.nextAt - b.nextAt);
}

function toPlaceInfo({ channel, conversation, sender }: Place): ScheduleInfo["place"] {
  const { kind, id, subject } = conversation;
  const name = kind === "direct" ? sender.name : subject;
  return { channel, kind, id, ...(name === undefined ? {} : { name }) };
}

function describeTimes({
  when,
  missed,
  nextAt,
  lastAt,
  paused,
}: Schedule<unknown>): Pick<ScheduleInfo, "when" | "missed" | "nextAt" | "lastAt" | "paused"> {
  return { when: describeWhen(when), missed, nextAt, lastAt, ...(paused ? { paused } : {}) };
}
