import { createDeletedNote, SILENT_TOKEN } from "@signalbox/prompt";
import { answeredIn, comingBackIn, heardText, nameOf, type Owed, type Tag, tagsIn } from "./conversation.ts";

/** How the history shows that a summary stands for its older part. */
export const SUMMARY = "The earlier part of this conversation was replaced by this summary:";
const OUTCOME_UNKNOWN = "Outcome unknown";
const NOT_RUN = "Not run: the user sent a message first";
/** What the gateway says of messages that were deleted while the model worked on them. */
const DELETED = createDeletedNote([]);
/** What memory has of earlier messages, beside a message: nobody says it now. */
const RECALLED = /From memory, perhaps outdated \(untrusted\):\n(`{3,})[\s\S]*?\n\1/g;

/** A conversation as a request shows it. */
export interface Seen {
  /** Every message of a person in the order of the conversation. */
  readonly said: readonly Tag[];
  /** True if a summary stands for the older part of the conversation. */
  readonly isSummarized: boolean;
  /** Those without an answer yet. */
  readonly open: readonly Tag[];
  /** What has come back by itself and was not heard yet. */
  readonly owed: readonly { readonly kind: Owed; readonly name: string }[];
  /** Messages whose changed text has no answer yet. */
  readonly edited: readonly string[];
  /** Tool calls of each message so far. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were set aside for a message that came in between, and are to be made again. */
  readonly skipped: ReadonlyMap<string, number>;
  /** The ids of commands that go on in the background, by their messages. */
  readonly commands: ReadonlyMap<string, string>;
  /** Messages whose command in the background was seen to end well. */
  readonly ended: ReadonlySet<string>;
  /** Messages one of whose calls has an unknown outcome. */
  readonly unknown: ReadonlySet<string>;
  /** Messages one of whose calls failed, with what was said of each that did, in their order. */
  readonly failed: ReadonlyMap<string, readonly string[]>;
}

type Raw = Readonly<Record<string, unknown>>;

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null;
}

function listOf(value: unknown): readonly Raw[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return Array.isArray(value) ? value.filter(isRaw) : [];
}

function textIn(value: unknown): string {
  return listOf(value)
    .map((block) => (typeof block["text"] === "string" ? block["text"] : ""))
    .join("\n");
}

/** Reads a request of the Messages API. */
export function readConversation(request: unknown): Seen {
  const said: Tag[] = [];
  const edited = new Set<string>();
  const open = new Map<string, Tag>();
  const owed = new Map<string, Seen["owed"][number]>();
  const calls = new Map<string, number>();
  const skipped = new Map<string, number>();
  const commands = new Map<string, string>();
  const ended = new Set<string>();
  const unknown = new Set<string>();
  const failed = new Map<string, string[]>();
  let isSummarized = false;
  const messages = isRaw(request) ? listOf(request["messages"]) : [];
  for (const { role, content } of messages) {
    for (const block of listOf(content)) {
      const isSummary = textIn([block]).startsWith(SUMMARY);
      isSummarized ||= isSummary;
      if (role === "user" && block["type"] === "text" && !isSummary) {
        const [text = "", gone = ""] = textIn([block]).replace(RECALLED, "").split(DELETED);
        for (const back of comingBackIn(text)) owed.set(heardText(back.kind, back.name), back);
        for (const tag of tagsIn(gone)) open.delete(nameOf(tag));
        for (const { edited: changed, late, ...tag } of tagsIn(text)) {
          if (changed) edited.add(nameOf(tag));
          // It is no message of its own.
          if (late) continue;
          said.push(tag);
          open.set(nameOf(tag), tag);
        }
      }
      if (role === "assistant" && block["type"] === "text") {
        const text = textIn([block]);
        if (text.trim() === SILENT_TOKEN) open.clear();
        for (const [, name] of text.matchAll(/read (s\d+\.\d+)#1/g)) if (name) edited.delete(name);
        for (const name of finished(text)) open.delete(name);
        for (const heard of owed.keys()) if (text.includes(heard)) owed.delete(heard);
      }
      const id = String(block["id"] ?? block["tool_use_id"] ?? "");
      const name = /^(?:call|task)_(s\d+)_(\d+)_/.exec(id)?.slice(1).join(".");
      if (name === undefined) continue;
      if (block["type"] === "tool_use") calls.set(name, (calls.get(name) ?? 0) + 1);
      const result = textIn(block["content"]);
      if (block["type"] !== "tool_result") continue;
      if (result.includes(NOT_RUN)) skipped.set(name, (skipped.get(name) ?? 0) + 1);
      else if (block["is_error"] === true) failed.set(name, [...(failed.get(name) ?? []), result]);
      if (result.includes(OUTCOME_UNKNOWN)) unknown.add(name);
      const [, command] = /\[(\w+) is running in the background/.exec(result) ?? [];
      if (command !== undefined) commands.set(name, command);
      if (/\[\w+ has ended: exit code 0\]/.test(result)) ended.add(name);
    }
  }
  return {
    said,
    isSummarized,
    open: [...open.values()],
    owed: [...owed.values()],
    edited: [...edited],
    calls,
    skipped,
    commands,
    ended,
    unknown,
    failed,
  };
}

/** The messages that a turn of the model answers. */
function finished(text: string): string[] {
  return [...answeredIn(text), ...[...text.matchAll(/side (s\d+\.\d+)!/g)].flatMap(([, name]) => name ?? [])];
}

/** Whether the model is asked for a summary, not for an answer. */
export function asksForSummary(request: unknown): boolean {
  return isRaw(request) && textIn(request["system"]).startsWith("You keep the notes of a conversation");
}
