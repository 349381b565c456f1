import type { SessionInfo, Why } from "@signalbox/protocol";
import type { Router } from "@signalbox/routing";
import { explain } from "@signalbox/telemetry";
import type { GatewayStore } from "../store.ts";
import { readTrace } from "../traces.ts";

/** The latest sessions of every channel. */
export async function listSessions(
  { sessions }: Pick<GatewayStore, "sessions">,
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
      ...(title === undefined ? {} : { title }),
      tokens: totals.inputTokens + totals.outputTokens,
      costMicros: totals.costMicros,
      busy: activeRun !== undefined || lanes.busy(key),
    }),
  );
}

/** What became of a message, in a sentence and note by note. */
export async function readWhy(
  store: GatewayStore,
  messageId: string,
  router: Pick<Router, "explain">,
): Promise<Why | undefined> {
  const trace = await readTrace(store, messageId, router);
  return trace && { trace, ...explain(trace) };
}
