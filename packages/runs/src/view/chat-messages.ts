import { type AgentMessage, STOP_REASONS, type ToolCallBlock } from "@signalbox/agent-core";
import type { ChatMessage } from "@signalbox/protocol";
import type { PlacedMessage } from "../store.ts";
import { getNoteId, getSentId, getTurnId } from "./ids.ts";
import { getVisibleText, NO_FILTER, type TextFilter } from "./text-filter.ts";

/** A message of a conversation, and the run that added it. */
export interface ConversationMessage extends PlacedMessage {
  readonly runId?: string;
  /** Number of resets of the conversation. Default: 0. */
  readonly generation?: number;
  readonly at: number;
}

/** A message that a person sent to the agent. */
interface SentMessage {
  readonly id: string;
  /** Timestamp in the conversation, in milliseconds since the epoch. A summary of several messages has a later one. */
  readonly at: number;
  readonly text?: string;
  /** Display name of the sender. */
  readonly sender?: string;
  readonly attachments?: ChatMessage["attachments"];
}

/** The host's data about a run, in addition to its messages. */
export interface RunNotes {
  /**
   * The messages that the run answered, in order, as their senders wrote them. `text` is set if the model read a
   * different text.
   */
  readonly messages: readonly SentMessage[];
  /** Text about the end of the run to show in addition to its reply, for example the reason for a failure. */
  readonly note?: { readonly text: string; readonly at: number };
}

export interface ChatMessagesOptions {
  /** Notes by run id. */
  readonly notes: ReadonlyMap<string, RunNotes>;
  /** Returns the text that a successful call sent on behalf of the agent. Default: no calls send text. */
  readonly getSentText?: (call: ToolCallBlock) => string | undefined;
  /** Determines the visible text. Default: people see all text. */
  readonly filter?: TextFilter;
}

/**
 * Converts a stored conversation to messages for people: texts, and each tool call with its result. The ids are those
 * of the live events.
 *
 * @param rows oldest first
 */
export function toChatMessages(
  rows: readonly ConversationMessage[],
  options: ChatMessagesOptions,
): ChatMessage[] {
  const reader = new ConversationReader(rows, options);
  return rows.flatMap((row) => reader.read(row));
}

type RowWith<Role extends AgentMessage["role"]> = Omit<ConversationMessage, "message"> & {
  readonly message: Extract<AgentMessage, { readonly role: Role }>;
};

/**
 * A message from a person. `isWhole` is false if the run contains the message only in a summary of several messages.
 */
interface HeldMessage extends SentMessage {
  readonly isWhole: boolean;
}

/** Reads the messages of a conversation in order. */
class ConversationReader {
  readonly #options: ChatMessagesOptions;
  readonly #filter: TextFilter;
  /** Results to show after the turn that made the calls, in the order of the calls and not of their results. */
  readonly #results: ReadonlyMap<string, RowWith<"toolResult">>;
  /** Messages from people that were not shown yet, by run. */
  readonly #sent: ReadonlyMap<string, HeldMessage[]>;
  readonly #turns = new Map<string, number>();
  /** Sequence number of the last message of each run. */
  readonly #lastSeqs: ReadonlyMap<string, number>;
  /** Text of a turn that was truncated at the output limit and continues in the next one. */
  #truncated = "";
  #generation: number | undefined;

  constructor(rows: readonly ConversationMessage[], options: ChatMessagesOptions) {
    this.#options = options;
    this.#filter = options.filter ?? NO_FILTER;
    this.#results = new Map(
      rows.flatMap(({ message, ...row }) =>
        message.role === "toolResult"
          ? [[getCallKey(row.runId, message.toolCallId), { ...row, message }]]
          : [],
      ),
    );
    const rowsByRun = Map.groupBy(rows, ({ runId }) => runId);
    this.#sent = new Map(
      [...options.notes].map(([runId, { messages }]) => [
        runId,
        markWhole(messages, rowsByRun.get(runId) ?? []),
      ]),
    );
    this.#lastSeqs = new Map(rows.flatMap(({ seq, runId }) => (runId === undefined ? [] : [[runId, seq]])));
  }

  read({ message, ...row }: ConversationMessage): ChatMessage[] {
    const note = this.#readNote(row);
    if (message.role === "user") return [...this.#readUser({ ...row, message }), ...note];
    if (message.role === "assistant") return [...this.#readAssistant({ ...row, message }), ...note];
    return note;
  }

  #readUser({ seq, runId, at, generation, message }: RowWith<"user">): ChatMessage[] {
    const begins = this.#generation !== undefined && generation !== this.#generation;
    this.#generation = generation;
    const sent = this.#takeSent(runId, message.timestamp);
    const shown = sent.length > 0 ? sent : [{ id: String(seq) }];
    return shown.map(
      ({ id, text = getText(message), sender, attachments }: Omit<SentMessage, "at">, index) => ({
        id,
        at,
        runId,
        role: "user",
        text,
        sender,
        attachments,
        begins: begins && index === 0 ? true : undefined,
      }),
    );
  }

  /** Takes the original messages for one message of the run: a single one, or several for a summary. */
  #takeSent(runId: string | undefined, timestamp: number): readonly SentMessage[] {
    const sent = this.#sent.get(runId ?? "") ?? [];
    const index = sent.findIndex(({ at, isWhole }) => isWhole && at === timestamp);
    if (index >= 0) return sent.splice(index, 1);
    const next = sent.findIndex(({ isWhole }) => isWhole);
    return sent.splice(0, next < 0 ? sent.length : next);
  }

  #readAssistant({ seq, runId, at, message }: RowWith<"assistant">): ChatMessage[] {
    const whole = this.#truncated + this.#filter.getText(message);
    const isPart = STOP_REASONS[message.stopReason]?.text === "part";
    const continues = isPart && runId !== undefined && this.#lastSeqs.get(runId) !== seq;
    this.#truncated = continues ? whole : "";
    const text = continues ? "" : getVisibleText(whole, message.stopReason, this.#filter);
    const tools = message.content.flatMap((block) =>
      block.type === "toolCall"
        ? createToolMessages(block, this.#results.get(getCallKey(runId, block.id)), this.#options.getSentText)
        : [],
    );
    if (text === "") return tools;
    const id = runId === undefined ? String(seq) : getTurnId(runId, this.#nextTurn(runId));
    return [{ id, at, runId, role: "assistant", text }, ...tools];
  }

  #nextTurn(runId: string): number {
    const index = this.#turns.get(runId) ?? 0;
    this.#turns.set(runId, index + 1);
    return index;
  }

  /** Returns the note about the end of a run if this is its last message. */
  #readNote({ seq, runId }: Omit<ConversationMessage, "message">): ChatMessage[] {
    if (runId === undefined || this.#lastSeqs.get(runId) !== seq) return [];
    const note = this.#options.notes.get(runId)?.note;
    return note === undefined ? [] : [{ id: getNoteId(runId), role: "assistant", runId, ...note }];
  }
}

function getCallKey(runId: string | undefined, callId: string): string {
  return `${runId} ${callId}`;
}

/**
 * Returns the messages of a run. If several were sent in the same millisecond, the run contains the last ones in full.
 */
function markWhole(sent: readonly SentMessage[], rows: readonly ConversationMessage[]): HeldMessage[] {
  const wholeAt = new Map<number, number>();
  for (const { message } of rows)
    if (message.role === "user") wholeAt.set(message.timestamp, (wholeAt.get(message.timestamp) ?? 0) + 1);
  const backwards = sent.toReversed().map((message) => {
    const remaining = wholeAt.get(message.at) ?? 0;
    wholeAt.set(message.at, remaining - 1);
    return { ...message, isWhole: remaining > 0 };
  });
  return backwards.toReversed();
}

/** Returns a call with its result and the text that it sent. Empty if there is no result yet. */
function createToolMessages(
  block: ToolCallBlock,
  row: RowWith<"toolResult"> | undefined,
  getSentText: ChatMessagesOptions["getSentText"],
): ChatMessage[] {
  if (row === undefined) return [];
  const { id, name, args, argsText } = block;
  const { isError, durationMs } = row.message;
  const base = { at: row.at, runId: row.runId };
  const call = { id, name, args: args ?? argsText, isError, durationMs };
  const sent = isError ? undefined : getSentText?.(block);
  return [
    { ...base, id: String(row.seq), role: "tool", text: getText(row.message), call },
    ...(sent === undefined ? [] : [{ ...base, id: getSentId(id), role: "assistant" as const, text: sent }]),
  ];
}

function getText(message: Extract<AgentMessage, { role: "user" | "toolResult" }>): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .flatMap((block) => (block.type === "text" ? [block.text] : [`[${block.type}]`]))
    .join("\n");
}
