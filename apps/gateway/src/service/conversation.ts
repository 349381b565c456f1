import type { AgentMessage, ToolCallBlock } from "@signalbox/agent-core";
import { readTurn, saidIn } from "@signalbox/prompt";
import type { ChatMessage, ConversationInfo } from "@signalbox/protocol";
import type { RunId, SessionMessage } from "@signalbox/store";
import { failureNote } from "../path/failure-note.ts";
import { noteId, sentId, turnId } from "../path/live-events.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";

type Row = SessionMessage<GatewayBodies>;

/** What the journal adds to the messages of a run. */
interface RunNotes {
  /** Ids that clients gave to what they asked, in order. */
  readonly asked: string[];
  /** Why it failed, in words, and when. */
  readonly failure?: { readonly text: string; readonly at: number };
}

const SHOWN_MESSAGES = 500;
/** Conversations listed at most, and pages of sessions that are gone through for them. */
const LISTED = 200;
const PAGES = 20;

/** The latest conversations of the page's clients whose ids begin with `prefix`. */
export async function listConversations(
  store: Pick<GatewayStore, "sessions">,
  prefix: string,
): Promise<ConversationInfo[]> {
  const listed: ConversationInfo[] = [];
  let before: number | undefined;
  for (let page = 0; page < PAGES && listed.length < LISTED; page++) {
    const sessions = await store.sessions.list({
      ...{ channel: "web", limit: LISTED },
      ...(before === undefined ? {} : { before }),
    });
    const own = sessions.filter(({ peer }) => peer.startsWith(prefix));
    listed.push(
      ...own.map(({ peer, agentId, title = "New conversation", updatedAt }) => ({
        ...{ id: peer, agent: agentId, title, updatedAt },
      })),
    );
    before = sessions.at(-1)?.updatedAt;
    if (sessions.length < LISTED) break;
  }
  return listed.slice(0, LISTED);
}

/**
 * A conversation as people look at it: what was said, and each tool call with its result. Ids are those that live
 * events carry.
 */
export async function readConversation(store: GatewayStore, sessionKey: string): Promise<ChatMessage[]> {
  const rows = (await store.sessions.transcript(sessionKey, { limit: SHOWN_MESSAGES })).toReversed();
  const notes = new Map<RunId, RunNotes>();
  const runIds = [...new Set(rows.flatMap((row) => row.runId ?? []))];
  for (const { run, inbox } of await store.runs.summaries(runIds)) {
    const failed = run.state === "failed" || run.state === "poisoned";
    const rule = inbox.find((row) => row.detail?.rule !== undefined)?.detail?.rule;
    notes.set(run.id, {
      asked: inbox.flatMap((row) => row.messageId ?? []),
      ...(failed ? { failure: { text: failureNote(rule), at: run.finishedAt ?? run.startedAt } } : {}),
    });
  }
  return chatMessages(rows, notes);
}

function chatMessages(rows: readonly Row[], notes: ReadonlyMap<RunId, RunNotes>): ChatMessage[] {
  // Shown behind the turn that made the call, in the order of the model and not in that of their ends.
  const results = new Map(
    rows.flatMap((row) =>
      row.message.role === "toolResult" ? [[`${row.runId} ${row.message.toolCallId}`, row]] : [],
    ),
  );
  const turns = new Map<RunId, number>();
  const lastOf = new Map<RunId, number>(rows.flatMap(({ seq, runId }) => (runId ? [[runId, seq]] : [])));
  /** A turn that reached the model's limit and goes on in the next one. */
  let cut = "";

  const shown = ({ seq, message, runId, at }: Row): ChatMessage[] => {
    const base = { id: String(seq), at, ...(runId === undefined ? {} : { runId }) };
    switch (message.role) {
      case "user": {
        const id = (runId && notes.get(runId)?.asked.shift()) ?? base.id;
        return [{ ...base, id, role: "user", text: textOf(message) }];
      }
      case "assistant": {
        const calls = message.content.filter((block) => block.type === "toolCall");
        const said = cut + saidIn(message);
        cut = message.stopReason === "max_tokens" && runId && lastOf.get(runId) !== seq ? said : "";
        const text = cut === "" ? readTurn(said).visible : "";
        const tools = calls.flatMap((call) => toolMessages(call, results.get(`${runId} ${call.id}`)));
        if (text === "") return tools;
        const index = runId === undefined ? 0 : (turns.get(runId) ?? 0);
        if (runId !== undefined) turns.set(runId, index + 1);
        const id = runId === undefined ? base.id : turnId(runId, index);
        return [{ ...base, id, role: "assistant", text }, ...tools];
      }
      default:
        return [];
    }
  };

  return rows.flatMap((row) => {
    const { runId } = row;
    const failure =
      runId !== undefined && lastOf.get(runId) === row.seq ? notes.get(runId)?.failure : undefined;
    const note: ChatMessage[] =
      failure && runId ? [{ id: noteId(runId), role: "assistant", runId, ...failure }] : [];
    return [...shown(row), ...note];
  });
}

/** A call with its result, and what the message tool said by it; nothing while there is no result. */
function toolMessages({ id, name, args, argsText }: ToolCallBlock, row: Row | undefined): ChatMessage[] {
  if (row?.message.role !== "toolResult") return [];
  const { isError } = row.message;
  const base = { at: row.at, ...(row.runId === undefined ? {} : { runId: row.runId }) };
  const given = args ?? argsText;
  const call = { id, name, args: given, isError };
  const sent = name === "message" && !isError ? sentText(given) : undefined;
  return [
    { ...base, id: String(row.seq), role: "tool", text: textOf(row.message), call },
    ...(sent === undefined ? [] : [{ ...base, id: sentId(id), role: "assistant" as const, text: sent }]),
  ];
}

/** What the message tool has shown in this conversation. */
function sentText(args: unknown): string | undefined {
  if (args === null || typeof args !== "object" || !("message" in args) || "target" in args) return undefined;
  return typeof args.message === "string" ? args.message : undefined;
}

function textOf(message: Extract<AgentMessage, { role: "user" | "toolResult" }>): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .flatMap((block) => (block.type === "text" ? [block.text] : [`[${block.type}]`]))
    .join("\n");
}
