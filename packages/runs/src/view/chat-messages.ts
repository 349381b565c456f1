import { type AgentMessage, STOP_REASONS, type ToolCallBlock } from "@signalbox/agent-core";
import type { ChatMessage } from "@signalbox/protocol";
import type { PlacedMessage } from "../store.ts";
import { noteId, sentId, turnId } from "./ids.ts";
import { PLAIN, type Reading, visibleIn } from "./reading.ts";

/** A message of a conversation with the run that it is of. */
export interface ConversationMessage extends PlacedMessage {
  readonly runId?: string;
  /** Counts the new beginnings of the conversation. Default: there was none. */
  readonly generation?: number;
  readonly at: number;
}

/** A message to the agent. */
export interface Asked {
  readonly id: string;
  /** As the conversation has it, in milliseconds since the epoch; a note that tells it in short has a later time. */
  readonly at: number;
  readonly text?: string;
  readonly attachments?: ChatMessage["attachments"];
}

/** What the journal adds to the messages of a run. */
export interface RunNotes {
  /** What was asked, in order, as it was written: with its writer's ids, and the text where the model read another. */
  readonly asked: readonly Asked[];
  /** What people were told of its end in addition to its text, for instance why it failed, and when. */
  readonly note?: { readonly text: string; readonly at: number };
}

export interface ChatMessagesOptions {
  /** By the id of their run. */
  readonly notes: ReadonlyMap<string, RunNotes>;
  /** What a call that worked has said in the agent's name. Default: no call does. */
  readonly sentBy?: (call: ToolCallBlock) => string | undefined;
  /** Default: every word is for people. */
  readonly reading?: Reading;
}

/**
 * A conversation as people look at it: what was said, and each tool call with its result. Ids are those that live
 * events carry.
 *
 * @param rows oldest first
 */
export function chatMessages(
  rows: readonly ConversationMessage[],
  options: ChatMessagesOptions,
): ChatMessage[] {
  const reader = new ConversationReader(rows, options);
  return rows.flatMap((row) => reader.read(row));
}

type RowOf<Role extends AgentMessage["role"]> = Omit<ConversationMessage, "message"> & {
  readonly message: Extract<AgentMessage, { readonly role: Role }>;
};

/** A question, and whether a message of the run holds it whole, or only in short beside others. */
interface Question extends Asked {
  readonly isWhole: boolean;
}

/** Reads the messages of a conversation in their order. */
class ConversationReader {
  readonly #options: ChatMessagesOptions;
  readonly #reading: Reading;
  /** Shown behind the turn that made the call, in the order of the model and not in that of their ends. */
  readonly #results: ReadonlyMap<string, RowOf<"toolResult">>;
  /** What was asked, as far as it is not shown yet, and how many turns are, by the run. */
  readonly #asked: ReadonlyMap<string, Question[]>;
  readonly #turns = new Map<string, number>();
  /** The last message of each run. */
  readonly #lastOf: ReadonlyMap<string, number>;
  /** A turn that reached the model's limit and continues in the next one. */
  #cut = "";
  #generation: number | undefined;

  constructor(rows: readonly ConversationMessage[], options: ChatMessagesOptions) {
    this.#options = options;
    this.#reading = options.reading ?? PLAIN;
    this.#results = new Map(
      rows.flatMap(({ message, ...row }) =>
        message.role === "toolResult" ? [[callOf(row.runId, message.toolCallId), { ...row, message }]] : [],
      ),
    );
    const told = Map.groupBy(rows, ({ runId }) => runId);
    this.#asked = new Map(
      [...options.notes].map(([runId, { asked }]) => [runId, questionsOf(asked, told.get(runId) ?? [])]),
    );
    this.#lastOf = new Map(rows.flatMap(({ seq, runId }) => (runId === undefined ? [] : [[runId, seq]])));
  }

  read({ message, ...row }: ConversationMessage): ChatMessage[] {
    const note = this.#noteBehind(row);
    if (message.role === "user") return [...this.#questions({ ...row, message }), ...note];
    if (message.role === "assistant") return [...this.#answer({ ...row, message }), ...note];
    return note;
  }

  #questions({ seq, runId, at, generation, message }: RowOf<"user">): ChatMessage[] {
    const begins = this.#generation !== undefined && generation !== this.#generation;
    this.#generation = generation;
    const asked = this.#askedIn(runId, message.timestamp);
    const said = asked.length > 0 ? asked : [{ id: String(seq) }];
    return said.map(({ id, text = textOf(message), attachments }: Omit<Asked, "at">, place) => ({
      id,
      at,
      ...ofRun(runId),
      role: "user",
      text,
      ...(attachments === undefined ? {} : { attachments }),
      ...(begins && place === 0 ? { begins } : {}),
    }));
  }

  /** What a run was told by one message: what was asked then, or what was told in short, as there was too much. */
  #askedIn(runId: string | undefined, timestamp: number): readonly Asked[] {
    const asked = this.#asked.get(runId ?? "") ?? [];
    const place = asked.findIndex(({ at, isWhole }) => isWhole && at === timestamp);
    if (place >= 0) return asked.splice(place, 1);
    const next = asked.findIndex(({ isWhole }) => isWhole);
    return asked.splice(0, next < 0 ? asked.length : next);
  }

  #answer({ seq, runId, at, message }: RowOf<"assistant">): ChatMessage[] {
    const said = this.#cut + this.#reading.said(message);
    const isPart = STOP_REASONS[message.stopReason]?.text === "part";
    const goesOn = isPart && runId !== undefined && this.#lastOf.get(runId) !== seq;
    this.#cut = goesOn ? said : "";
    const text = goesOn ? "" : visibleIn(said, message.stopReason, this.#reading);
    const tools = message.content.flatMap((block) =>
      block.type === "toolCall"
        ? toolMessages(block, this.#results.get(callOf(runId, block.id)), this.#options.sentBy)
        : [],
    );
    if (text === "") return tools;
    const id = runId === undefined ? String(seq) : turnId(runId, this.#nextTurn(runId));
    return [{ id, at, ...ofRun(runId), role: "assistant", text }, ...tools];
  }

  #nextTurn(runId: string): number {
    const index = this.#turns.get(runId) ?? 0;
    this.#turns.set(runId, index + 1);
    return index;
  }

  /** What was told of the end of a run, behind its last message. */
  #noteBehind({ seq, runId }: Omit<ConversationMessage, "message">): ChatMessage[] {
    if (runId === undefined || this.#lastOf.get(runId) !== seq) return [];
    const note = this.#options.notes.get(runId)?.note;
    return note === undefined ? [] : [{ id: noteId(runId), role: "assistant", runId, ...note }];
  }
}

function callOf(runId: string | undefined, callId: string): string {
  return `${runId} ${callId}`;
}

/** The questions of a run. Of several asked in one millisecond, the last ones are those that it holds whole. */
function questionsOf(asked: readonly Asked[], rows: readonly ConversationMessage[]): Question[] {
  const wholeAt = new Map<number, number>();
  for (const { message } of rows)
    if (message.role === "user") wholeAt.set(message.timestamp, (wholeAt.get(message.timestamp) ?? 0) + 1);
  const backwards = asked.toReversed().map((question) => {
    const left = wholeAt.get(question.at) ?? 0;
    wholeAt.set(question.at, left - 1);
    return { ...question, isWhole: left > 0 };
  });
  return backwards.toReversed();
}

function ofRun(runId: string | undefined): { runId?: string } {
  return runId === undefined ? {} : { runId };
}

/** A call with its result, and what was said by it; nothing while there is no result. */
function toolMessages(
  block: ToolCallBlock,
  row: RowOf<"toolResult"> | undefined,
  sentBy: ChatMessagesOptions["sentBy"],
): ChatMessage[] {
  if (row === undefined) return [];
  const { id, name, args, argsText } = block;
  const { isError, durationMs } = row.message;
  const base = { at: row.at, ...ofRun(row.runId) };
  const took = durationMs === undefined ? {} : { durationMs };
  const call = { id, name, args: args ?? argsText, isError, ...took };
  const sent = isError ? undefined : sentBy?.(block);
  return [
    { ...base, id: String(row.seq), role: "tool", text: textOf(row.message), call },
    ...(sent === undefined ? [] : [{ ...base, id: sentId(id), role: "assistant" as const, text: sent }]),
  ];
}

function textOf(message: Extract<AgentMessage, { role: "user" | "toolResult" }>): string {
  if (typeof message.content === "string") return message.content;
  return message.content
    .flatMap((block) => (block.type === "text" ? [block.text] : [`[${block.type}]`]))
    .join("\n");
}
