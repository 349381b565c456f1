import type { SessionInfo } from "@signalbox/protocol";
import type { ServiceStore } from "../messages/service-store.ts";
import { readPersonNames } from "./person-names.ts";

/** Lists the latest sessions of all channels. */
export async function listSessions(
  store: ServiceStore,
  lanes: { busy(sessionKey: string): boolean },
): Promise<SessionInfo[]> {
  const [sessions, names] = await Promise.all([store.sessions.list(), readPersonNames(store)]);
  return sessions.map(
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
      peerName: names.get(channel, peer),
      tokens: totals.inputTokens + totals.outputTokens,
      costMicros: totals.costMicros,
      busy: activeRun !== undefined || lanes.busy(key),
    }),
  );
}
