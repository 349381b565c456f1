import type { ConversationInfo } from "@signalbox/protocol";
import type { SessionPosition } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import type { ServiceStore } from "../messages/service-store.ts";
import { requestAtSeat } from "../pipeline/control.ts";
import { hasSubAgentAtWork } from "../triggers/stop-sub-agents.ts";

/** Maximum number of conversations to list, and of session pages to search for them. */
const MAX_CONVERSATIONS = 200;
const MAX_PAGES = 20;

/** Lists the latest conversations of console clients whose ids begin with `prefix`. */
export async function listConversations(store: ServiceStore, prefix: string): Promise<ConversationInfo[]> {
  const listed: ConversationInfo[] = [];
  let last: SessionPosition | undefined;
  for (let page = 0; page < MAX_PAGES && listed.length < MAX_CONVERSATIONS; page++) {
    const sessions = await store.sessions.list({
      channel: "web",
      limit: MAX_CONVERSATIONS,
      behind: last,
    });
    const own = sessions.filter(({ peer }) => peer.startsWith(prefix));
    listed.push(
      ...own.map(({ peer, agentId, title = "New conversation", updatedAt, model }) => ({
        id: peer,
        agent: agentId,
        title,
        updatedAt,
        model,
      })),
    );
    last = sessions.at(-1);
    if (sessions.length < MAX_CONVERSATIONS) break;
  }
  return listed.slice(0, MAX_CONVERSATIONS);
}

/** @returns false if the conversation does not exist */
export async function renameConversation(
  { sessions }: ServiceStore,
  conversation: string,
  title: string,
): Promise<boolean> {
  const own = await sessions.list({ channel: "web", peer: conversation });
  await Promise.all(own.map(({ key }) => sessions.patch(key, { title })));
  return own.length > 0;
}

/** Removes a console conversation for every agent, unless an agent is running in it. */
export async function removeConversation(
  ctx: GatewayContext,
  conversation: string,
): Promise<"removed" | "unknown" | "busy"> {
  const { sessions } = ctx.store;
  const own = await sessions.list({ channel: "web", peer: conversation });
  if (own.length === 0) return "unknown";
  if (own.some(({ key, activeRun }) => activeRun !== undefined || ctx.lanes.busy(key))) return "busy";
  // A sub-agent's report would create the conversation again.
  for (const { key } of own) if (await hasSubAgentAtWork(ctx.subAgents, key)) return "busy";
  for (const { key: sessionKey, agentId } of own) {
    const result = await requestAtSeat(ctx, { agentId, sessionKey }, { kind: "remove" });
    // Viewers may watch at both nodes.
    if (!ctx.seats.isHere(agentId, sessionKey)) ctx.live.forget(sessionKey);
    if (result !== "removed") return "busy";
  }
  return "removed";
}
