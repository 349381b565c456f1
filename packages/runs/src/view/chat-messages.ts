import type { AgentMessage, ToolCallBlock } from "@signalbox/agent-core";
import type { ChatMessage } from "@signalbox/protocol";
import type { PlacedMessage } from "../store.ts";
import { noteId, sentId, turnId } from "./ids.ts";
import { PLAIN, type Reading } from "./reading.ts";

/** A message of a conversation with the run that it is of. */
export interface ConversationMessage extends PlacedMessage {
  readonly runId?: string;
  readonly at: number;
}

/** What the journal adds to the messages of a run. */
export interface RunNotes {
  /** Ids that clients gave to what they asked, in order. */
  readonly asked: readonly string[];
  /** Why it failed, in words for people, and when. */
  readonly failure?: { readonly text: string; readonly at: number };
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
  const { notes, reading = PLAIN } = options;
  // Shown behind the turn that made the call, in the order of the model and not in that of their ends.
  const results = new Map(
    rows.flatMap((row) =>
      row.message.role === "toolResult" ? [[`${row.runId} ${row.message.toolCallId}`, row]] : [],
    ),
  );
  const asked = new Map([...notes].map(([runId, note]) => [runId, [...note.asked]]));
  const turns = new Map<string, number>();
  const lastOf = new Map(rows.flatMap(({ seq, runId }) => (runId === undefined ? [] : [[runId, seq]])));
  /** A turn that reached the model's limit and goes on in the next one. */
  let cut = "";

  const shown = ({ seq, message, runId, at }: ConversationMessage): ChatMessage[] => {
    const base = { id: String(seq), at, ...(runId === undefined ? {} : { runId }) };
    switch (message.role) {
      case "user": {
        const id = (runId && asked.get(runId)?.shift()) ?? base.id;
        return [{ ...base, id, role: "user", text: textOf(message) }];
      }
      case "assistant": {
        const calls = message.content.filter((block) => block.type === "toolCall");
        const said = cut + reading.said(message);
        cut = message.stopReason === "max_tokens" && runId && lastOf.get(runId) !== seq ? said : "";
        const text = cut === "" ? reading.visible(said) : "";
        const tools = calls.flatMap((call) =>
          toolMessages(call, results.get(`${runId} ${call.id}`), options.sentBy),
        );
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

/** A call with its result, and what was said by it; nothing while there is no result. */
function toolMessages(
  block: ToolCallBlock,
  row: ConversationMessage | undefined,
  sentBy: ChatMessagesOptions["sentBy"],
): ChatMessage[] {
  if (row?.message.role !== "toolResult") return [];
  const { id, name, args, argsText } = block;
  const { isError } = row.message;
  const base = { at: row.at, ...(row.runId === undefined ? {} : { runId: row.runId }) };
  const call = { id, name, args: args ?? argsText, isError };
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
