import type { SessionInfo } from "@signalbox/protocol";
import type { ServiceStore } from "../messages/service-store.ts";

/** The latest sessions of every channel. */
export async function listSessions(
  { sessions }: ServiceStore,
  lanes: { busy(sessionKey: string): boolean },
): Promise<SessionInfo[]> {
  return (await sessions.list()).map(
    ({ key, agentId, channel, account, peer, kind, title, updatedAt, messageCount, totals, activeRun }) => ({
      key,
      agent: agentId,
      channel,
      account,
      peer,
      kind,
      updatedAt,
      messages: messageCount,
      title,
      tokens: totals.inputTokens + totals.outputTokens,
      costMicros: totals.costMicros,
      busy: activeRun !== undefined || lanes.busy(key),
    }),
  );
}
