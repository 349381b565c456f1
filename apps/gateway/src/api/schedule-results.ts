import type { ScheduleInfo } from "@signalbox/protocol";
import { readOpenReplies } from "../messages/open-replies.ts";
import type { ServiceStore } from "../messages/service-store.ts";
import { messageInfo } from "../messages/traces.ts";

/** Number of recent messages of a conversation to search for the latest run of its schedules. */
const MAX_SEARCHED = 100;

/** Adds the outcome of its latest run to each schedule. */
export async function addLastRuns(
  store: Pick<ServiceStore, "inbox" | "outbox">,
  schedules: readonly ScheduleInfo[],
): Promise<ScheduleInfo[]> {
  const sessions = [...new Set(schedules.flatMap(({ session }) => session ?? []))];
  const rows = await Promise.all(
    sessions.map((sessionKey) => store.inbox.list({ sessionKey, limit: MAX_SEARCHED })),
  );
  const messages = rows.flat();
  const replies = await readOpenReplies(store);
  return schedules.map((schedule) => {
    const row = messages.find(({ payload }) => payload.event.eventId.startsWith(`schedule:${schedule.id}:`));
    if (row === undefined) return schedule;
    const { id: messageId, at, state, reason } = messageInfo(row, replies);
    return { ...schedule, last: { messageId, at, state, reason } };
  });
}
