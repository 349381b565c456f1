import type { ToolCallBlock } from "@signalbox/agent-core";
import type { ChatMessage, ConversationInfo } from "@signalbox/protocol";
import { chatMessages, type RunNotes } from "@signalbox/runs";
import type { LeaseToken, RunSummary } from "@signalbox/store";
import { failureNote } from "../path/failure-note.ts";
import { READING } from "../path/reading.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";

const SHOWN_MESSAGES = 500;
/** Conversations listed at most, and pages of sessions that are gone through for them. */
const LISTED = 200;
const PAGES = 20;

interface RemovalPorts {
  readonly store: Pick<GatewayStore, "sessions">;
  readonly lanes: { busy(sessionKey: string): boolean };
  readonly lease: LeaseToken;
}

/** The latest conversations of the page's clients whose ids begin with `prefix`. */
export async function listConversations(
  store: Pick<GatewayStore, "sessions">,
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
  { sessions }: Pick<GatewayStore, "sessions">,
  conversation: string,
  title: string,
): Promise<boolean> {
  const own = await sessions.list({ channel: "web", peer: conversation });
  await Promise.all(own.map(({ key }) => sessions.patch(key, { title })));
  return own.length > 0;
}

/** Removes what every agent was told in a conversation of the page, unless one of them is at work there. */
export async function removeConversation(
  { store: { sessions }, lanes, lease }: RemovalPorts,
  conversation: string,
): Promise<"removed" | "unknown" | "busy"> {
  const own = await sessions.list({ channel: "web", peer: conversation });
  if (own.length === 0) return "unknown";
  if (own.some(({ key, activeRun }) => activeRun !== undefined || lanes.busy(key))) return "busy";
  for (const { key } of own) await sessions.remove(key, lease);
  return "removed";
}

/** A conversation as people look at it. */
export async function readConversation(store: GatewayStore, sessionKey: string): Promise<ChatMessage[]> {
  const rows = (await store.sessions.transcript(sessionKey, { limit: SHOWN_MESSAGES })).toReversed();
  const runIds = [...new Set(rows.flatMap(({ runId }) => runId ?? []))];
  const summaries = await store.runs.summaries(runIds);
  const notes = new Map(summaries.map((summary) => [summary.run.id, notesOn(summary)]));
  return chatMessages(rows, { notes, sentBy: sentText, reading: READING });
}

function notesOn({ run, inbox }: RunSummary<GatewayBodies>): RunNotes {
  const asked = inbox.flatMap(({ messageId }) => messageId ?? []);
  if (run.state !== "failed" && run.state !== "poisoned") return { asked };
  const rule = inbox.find(({ detail }) => detail?.rule !== undefined)?.detail?.rule;
  return { asked, failure: { text: failureNote(rule), at: run.finishedAt ?? run.startedAt } };
}

/** What the message tool has shown in this conversation. */
function sentText({ name, args }: ToolCallBlock): string | undefined {
  if (name !== "message" || args === undefined || "target" in args) return undefined;
  return typeof args["message"] === "string" ? args["message"] : undefined;
}
