import type { ToolCallBlock } from "@signalbox/agent-core";
import type { ChatMessage, ConversationHistory } from "@signalbox/protocol";
import { type RunNotes, type TextFilter, toChatMessages } from "@signalbox/runs";
import type { Exchange, ExchangeReader } from "../messages/exchanges.ts";
import { type RunSummary, toRunEnd } from "../messages/run-ends.ts";
import type { ServiceStore } from "../messages/service-store.ts";
import { attachmentsSeen } from "../messages/visible-attachments.ts";
import type { PersonNames } from "./person-names.ts";

const MAX_MESSAGES = 500;

export interface HistoryPorts {
  readonly store: ServiceStore;
  readonly exchanges: ExchangeReader;
  /** Removes text from an answer that people do not see, such as directives. */
  readonly filter: TextFilter;
  /** Names of people whose platform does not report names in messages. Default: none. */
  readonly names?: PersonNames;
}

/**
 * Returns a page of a conversation as its viewers saw it, including commands and the outcomes of its runs.
 *
 * @param before `before` of the next page. Default: the latest page.
 */
export async function readHistory(
  { store, exchanges, filter, names }: HistoryPorts,
  sessionKey: string,
  before?: number,
): Promise<ConversationHistory> {
  const { transcript } = store.sessions;
  const latest = (await transcript(sessionKey, { limit: MAX_MESSAGES, before })).toReversed();
  const isFirstPage = latest.length < MAX_MESSAGES;
  const rows = isFirstPage ? latest : dropPartialRun(latest);
  const [next] =
    before === undefined
      ? []
      : await transcript(sessionKey, { after: before - 1, before: before + 1, limit: 1 });
  const runIds = [...new Set(rows.flatMap(({ runId }) => runId ?? []))];
  const summaries = await store.runs.summaries(runIds);
  const kept = await exchanges.list(sessionKey);
  const notes = new Map(summaries.map((summary) => [summary.run.id, notesOn(summary, kept, names)]));
  const messages = toChatMessages(rows, { notes, getSentText: sentText, filter });
  // Omit exchanges that belong to earlier or later pages.
  const since = isFirstPage ? 0 : (rows[0]?.at ?? 0);
  const until = next?.at ?? Number.POSITIVE_INFINITY;
  const between = kept.filter(({ end, messages: [first] }) => {
    const at = first?.at ?? 0;
    return end !== undefined && at >= since && at < until;
  });
  const ends = [
    ...summaries.flatMap((summary) => toRunEnd(summary) ?? []),
    ...between.flatMap(({ end }) => end ?? []),
  ];
  return {
    messages: withExchanges(messages, between),
    // A command that compacts the history also has a run, so runs may occur twice.
    ends: [...new Map(ends.map((end) => [end.runId, end])).values()],
    before: isFirstPage ? undefined : rows[0]?.seq,
  };
}

/** Drops the rows of a run that starts on an earlier page. A run that is longer than a page is divided. */
function dropPartialRun<Row extends { readonly runId?: unknown }>(rows: readonly Row[]): readonly Row[] {
  const start = rows.findIndex(
    ({ runId }, index) => index > 0 && (runId === undefined || runId !== rows[index - 1]?.runId),
  );
  return start === -1 ? rows : rows.slice(start);
}

function notesOn(
  { run, inbox }: RunSummary,
  kept: readonly Exchange[],
  names: PersonNames | undefined,
): RunNotes {
  const messages = inbox.flatMap(({ messageId: id, payload, channel, senderId }) =>
    id === undefined
      ? []
      : [
          {
            id,
            at: payload.event.timestamp,
            text: payload.event.text,
            sender: payload.event.sender.name ?? names?.get(channel, senderId),
            ...attachmentsSeen(payload.event),
          },
        ],
  );
  const words = kept.flatMap(({ end, messages: shown }) => (end === undefined ? shown : []));
  const note = words.find(({ runId }) => runId === run.id);
  return note === undefined ? { messages } : { messages, note: { text: note.text, at: note.at } };
}

/** Inserts exchanges into the messages by time. Both use the same clock. */
function withExchanges(messages: readonly ChatMessage[], exchanges: readonly Exchange[]): ChatMessage[] {
  const merged = [...messages];
  const wasReset = new Set<ChatMessage>();
  for (const exchange of exchanges) {
    const endedAt = exchange.messages.at(-1)?.at ?? 0;
    const behind = merged.findLastIndex(({ at }) => at <= endedAt);
    merged.splice(behind + 1, 0, ...exchange.messages);
    for (const message of exchange.messages) if (message.begins) wasReset.add(message);
  }
  return merged.map((message, place) =>
    isShownBefore(merged, place, wasReset) ? withoutBegin(message) : message,
  );
}

/** Returns true if a command before a message already marked the beginning of the new history. */
function isShownBefore(
  messages: readonly ChatMessage[],
  place: number,
  told: ReadonlySet<ChatMessage>,
): boolean {
  const message = messages[place];
  if (message?.begins !== true || told.has(message)) return false;
  const before = messages.slice(0, place).findLast(({ begins }) => begins === true);
  return before !== undefined && told.has(before);
}

function withoutBegin({ begins: _, ...message }: ChatMessage): ChatMessage {
  return message;
}

/** Returns the text that a call of the message tool sent to this conversation. */
function sentText({ name, args }: ToolCallBlock): string | undefined {
  if (name !== "message" || args === undefined || "target" in args) return undefined;
  return typeof args["message"] === "string" ? args["message"] : undefined;
}
