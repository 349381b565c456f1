import type { ConversationInfo } from "@signalbox/protocol";
import type { LeaseToken } from "@signalbox/store";
import type { KeptExchanges } from "./exchange.ts";
import type { ServiceStore } from "./service-store.ts";

/** Conversations listed at most, and pages of sessions that are gone through for them. */
const LISTED = 200;
const PAGES = 20;

interface RemovalPorts {
  readonly store: Pick<ServiceStore, "sessions">;
  readonly exchanges: Pick<KeptExchanges, "remove">;
  /** What agents have asked there. */
  readonly inquiries: { forget(sessionKey: string): Promise<void> };
  readonly lanes: { busy(sessionKey: string): boolean };
  /** What viewers may come back to. */
  readonly live: { forget(sessionKey: string): void };
  readonly lease: LeaseToken;
}

/** The latest conversations of the page's clients whose ids begin with `prefix`. */
export async function listConversations(
  store: Pick<ServiceStore, "sessions">,
  prefix: string,
): Promise<ConversationInfo[]> {
  const listed: ConversationInfo[] = [];
  let before: number | undefined;
  for (let page = 0; page < PAGES && listed.length < LISTED; page++) {
    const sessions = await store.sessions.list({
      channel: "web",
      limit: LISTED,
      ...(before === undefined ? {} : { before }),
    });
    const own = sessions.filter(({ peer }) => peer.startsWith(prefix));
    listed.push(
      ...own.map(({ peer, agentId, title = "New conversation", updatedAt }) => ({
        id: peer,
        agent: agentId,
        title,
        updatedAt,
      })),
    );
    before = sessions.at(-1)?.updatedAt;
    if (sessions.length < LISTED) break;
  }
  return listed.slice(0, LISTED);
}

/** False where there is no such conversation. */
export async function renameConversation(
  { sessions }: Pick<ServiceStore, "sessions">,
  conversation: string,
  title: string,
): Promise<boolean> {
  const own = await sessions.list({ channel: "web", peer: conversation });
  await Promise.all(own.map(({ key }) => sessions.patch(key, { title })));
  return own.length > 0;
}

/** Removes what every agent was told in a conversation of the page, unless one of them is at work there. */
export async function removeConversation(
  { store: { sessions }, exchanges, inquiries, lanes, live, lease }: RemovalPorts,
  conversation: string,
): Promise<"removed" | "unknown" | "busy"> {
  const own = await sessions.list({ channel: "web", peer: conversation });
  if (own.length === 0) return "unknown";
  if (own.some(({ key, activeRun }) => activeRun !== undefined || lanes.busy(key))) return "busy";
  for (const { key } of own) {
    // The session goes last: without it nobody would come back for what a crash has left beside it.
    await exchanges.remove(key);
    await inquiries.forget(key);
    live.forget(key);
    await sessions.remove(key, lease);
  }
  return "removed";
}
