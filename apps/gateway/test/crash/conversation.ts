import { SILENT_TOKEN } from "@signalbox/prompt";
import type { ScriptedToolCall, ScriptedTurn } from "@signalbox/testkit";
import { seeded } from "./random.ts";

/**
 * What a message asks of the model: its tools, and its answer. `echo` says by the message tool what it then answers,
 * which must be said once; `retract` says it before, so that the draft of its run is taken back; `silent` is answered
 * by the token of silence.
 */
const KINDS = ["plain", "write", "send", "exec", "steps", "echo", "retract", "silent"] as const;
export type Kind = (typeof KINDS)[number];

/** A group's runs have seen what others wrote, so that no command of theirs runs without an approval. */
const IN_GROUPS = ["plain", "write", "send", "echo", "retract", "silent"] as const;

/** Sessions with an odd number are groups. */
export function isGroup(session: number): boolean {
  return session % 2 === 1;
}

export function kindsOf(session: number): readonly [Kind, ...Kind[]] {
  return isGroup(session) ? IN_GROUPS : KINDS;
}

/** A message of a session; numbers rise by one in the order in which the platform had them acknowledged. */
export interface Tag {
  readonly session: number;
  readonly number: number;
  readonly kind: Kind;
}

const OUTCOME_UNKNOWN = "Outcome unknown";
const NOT_RUN = "Not run: the user sent a message first";

/** Short name of a message, the same in requests, effects and replies. */
export function nameOf({ session, number }: Tag): string {
  return `s${session}.${number}`;
}

/** The text a person writes. */
export function textOf(tag: Tag): string {
  return `<<${nameOf(tag)} ${tag.kind}>> please`;
}

export function sideText(name: string): string {
  return `side ${name}!`;
}

/** Names that a reply says it answers, each as often as it is said. */
export function answeredIn(text: string): string[] {
  return [...text.matchAll(/done((?: s\d+\.\d+)+)/g)].flatMap(([, names]) => (names ?? "").trim().split(" "));
}

const TAG = /<<s(\d+)\.(\d+) (\w+)>>/g;

export function tagsIn(text: string): Tag[] {
  return [...text.matchAll(TAG)].flatMap(([, session, number, word]) => {
    const kind = KINDS.find((one) => one === word);
    return kind === undefined ? [] : [{ session: Number(session), number: Number(number), kind }];
  });
}

/** A conversation as a request shows it. */
export interface Seen {
  /** Every message of a person in the order of the conversation. */
  readonly said: readonly Tag[];
  /** Those without an answer yet. */
  readonly open: readonly Tag[];
  /** Tool calls of each message so far. */
  readonly calls: ReadonlyMap<string, number>;
  /** How many of them were set aside for a message that came in between, and are to be made again. */
  readonly skipped: ReadonlyMap<string, number>;
  /** Messages one of whose calls has an unknown outcome. */
  readonly unknown: ReadonlySet<string>;
  /** Messages one of whose calls failed, with what was said. */
  readonly failed: ReadonlyMap<string, string>;
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
  const open = new Map<string, Tag>();
  const calls = new Map<string, number>();
  const skipped = new Map<string, number>();
  const unknown = new Set<string>();
  const failed = new Map<string, string>();
  const messages = isRaw(request) ? listOf(request["messages"]) : [];
  for (const { role, content } of messages) {
    for (const block of listOf(content)) {
      if (role === "user" && block["type"] === "text") {
        for (const tag of tagsIn(textIn([block]))) {
          said.push(tag);
          open.set(nameOf(tag), tag);
        }
      }
      if (role === "assistant" && block["type"] === "text") {
        const text = textIn([block]);
        if (text.trim() === SILENT_TOKEN) open.clear();
        for (const name of finished(text)) open.delete(name);
      }
      const id = String(block["id"] ?? block["tool_use_id"] ?? "");
      const name = /^call_(s\d+)_(\d+)_/.exec(id)?.slice(1).join(".");
      if (name === undefined) continue;
      if (block["type"] === "tool_use") calls.set(name, (calls.get(name) ?? 0) + 1);
      const result = textIn(block["content"]);
      if (block["type"] !== "tool_result") continue;
      if (result.includes(NOT_RUN)) skipped.set(name, (skipped.get(name) ?? 0) + 1);
      else if (block["is_error"] === true) failed.set(name, result);
      if (result.includes(OUTCOME_UNKNOWN)) unknown.add(name);
    }
  }
  return { said, open: [...open.values()], calls, skipped, unknown, failed };
}

/** The messages that a turn of the model answers. */
function finished(text: string): string[] {
  return [...answeredIn(text), ...[...text.matchAll(/side (s\d+\.\d+)!/g)].flatMap(([, name]) => name ?? [])];
}

/** What the model does next. Its wait depends on the conversation only, so that a run asked again is the same run. */
export function nextTurn(request: unknown): ScriptedTurn {
  const { open, calls, skipped, unknown, said } = readConversation(request);
  const last = said.at(-1);
  const random = seeded((last?.session ?? 0) * 7919 + (last?.number ?? 0) * 31 + calls.size);
  const pace = { delayMs: random.int(0, 30), deltaMs: random.int(0, 8), chunks: random.int(1, 6) };
  for (const tag of open) {
    const name = nameOf(tag);
    const made = calls.get(name) ?? 0;
    const call = callOf(tag, made - (skipped.get(name) ?? 0), made);
    const text = tag.kind === "retract" ? sideText(name) : `on ${tag.session}`;
    if (call !== undefined) return { ...pace, text, toolCalls: [call] };
  }
  const [only] = open;
  // All that is left is what the tool has said.
  if (only === undefined) return { ...pace, text: SILENT_TOKEN };
  if (open.length === 1 && only.kind === "silent") return { ...pace, text: SILENT_TOKEN };
  if (open.length === 1 && only.kind === "echo" && !unknown.has(nameOf(only)))
    return { ...pace, text: sideText(nameOf(only)) };
  return { ...pace, text: `done ${open.map(nameOf).join(" ")}` };
}

/** The `step`-th call that a message wants; `made` have been made for it before. */
function callOf(tag: Tag, step: number, made: number): ScriptedToolCall | undefined {
  const name = nameOf(tag);
  const id = `call_s${tag.session}_${tag.number}_${made}`;
  const note = { file_path: `notes/${name}.txt`, content: `${name}\n` };
  const steps: Readonly<Record<Kind, readonly ScriptedToolCall[]>> = {
    plain: [],
    silent: [],
    write: [{ id, name: "write", input: note }],
    send: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    echo: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    retract: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    exec: [{ id, name: "exec", input: { command: `echo ${name} >> effects.log` } }],
    steps: [
      { id, name: "write", input: note },
      { id, name: "read", input: { file_path: note.file_path } },
      { id, name: "exec", input: { command: `echo ${name} >> effects.log` } },
      { id, name: "message", input: { action: "send", message: sideText(name) } },
    ],
  };
  return steps[tag.kind][step];
}
