import { SILENT_TOKEN } from "@signalbox/prompt";
import type { ScriptedToolCall, ScriptedTurn } from "@signalbox/testkit";
import { seeded } from "./random.ts";
import type { RelayName } from "./relay.ts";

/**
 * What a message asks of the model: its tools, and its answer. `echo` says by the message tool what it then answers,
 * which must be said once; `retract` says it before, so that the draft of its run is taken back; `silent` is answered
 * by the token of silence; the answer to `long` takes several messages; the platform takes none to `refused`. What
 * `schedule` and `delegate` ask for comes back later by itself, and is answered then; `enter` uses an MCP server;
 * `background` starts a command that waits for a word, and gives it one or ends it.
 */
const KINDS = [
  ...(["plain", "write", "send", "exec", "steps", "echo", "retract", "silent"] as const),
  ...(["long", "refused", "schedule", "delegate", "enter", "background"] as const),
] as const;
type Asked = (typeof KINDS)[number];

/** What a person may order instead. */
const COMMANDS = ["status", "new", "compact"] as const;
type Command = (typeof COMMANDS)[number];
export type Kind = Asked | Command;

export function isCommand(kind: Kind): kind is Command {
  return COMMANDS.some((one) => one === kind);
}

const ANYWHERE = ["plain", "send", "echo", "retract", "silent"] as const;

/** A group's runs have seen what others wrote, so that no command of theirs runs without an approval. */
const IN_GROUPS = [...ANYWHERE, "write"] as const;

/** What a server says taints a conversation, and what is written there taints whoever reads it. */
const BY_SERVERS = [...ANYWHERE, "enter", "enter"] as const;

/** Where the gateway speaks by itself, commands and further schedules would need an approval. */
const LATER = [...ANYWHERE, "schedule"] as const;

const IN_DIRECT = [...IN_GROUPS, "exec", "steps", "delegate", "background"] as const;
const ON_RELAYS = [
  ...(["plain", "plain", "plain", "plain", "long", "long", "refused", "silent"] as const),
  ...(["write", "send", "exec", "steps", "echo", "background", ...COMMANDS] as const),
] as const;

/** Sessions on the platforms of the relay channels; all others are Feishu's. */
const RELAYS: ReadonlyMap<number, RelayName> = new Map([
  [9001, "keyed"],
  [9002, "looked"],
  [9003, "blunt"],
]);
export const RELAY_SESSIONS: readonly number[] = [...RELAYS.keys()];

export function relayOf(session: number): RelayName | undefined {
  return RELAYS.get(session);
}

/** On the page the conversation is what the agent says: what its message tool says elsewhere is no part of it. */
const ON_THE_PAGE = ["plain", "write", "exec", "silent", "background"] as const;

/** Beside files that somebody sent no command runs unasked. */
const WITH_FILES = ["plain", "plain", "silent"] as const;

/**
 * Sessions with a platform of their own, that of a vendor or the gateway's page, where one person writes to the bot
 * alone; `files` is a conversation of the page with an agent that is sent files.
 */
export const VENDOR_SESSIONS = [
  [9101, "discord"],
  [9102, "slack"],
  [9103, "telegram"],
  [9104, "web"],
  [9105, "files"],
] as const;
export type VendorName = (typeof VENDOR_SESSIONS)[number][1];

/** Sessions of Feishu with an odd number are groups. */
export function isGroup(session: number): boolean {
  return session % 2 === 1 && session < 9000;
}

/**
 * Platforms where nothing says of a draft whose it is: Slack's streams take no metadata, Telegram's messages none at
 * all.
 */
export function draftsBearNoKey(channel: string): boolean {
  return channel === "slack" || channel === "telegram";
}

/** Where people read the conversation itself, and nothing is sent to them. */
export function readsConversation(channel: string): boolean {
  return channel === "web";
}

/** Platforms that take a message twice where it is sent twice, and give no way to look for it. */
export function isBlunt(channel: string): boolean {
  return channel === "blunt" || channel === "telegram";
}

export function kindsOf(session: number): readonly [Kind, ...Kind[]] {
  if (RELAYS.has(session)) return ON_RELAYS;
  const vendor = VENDOR_SESSIONS.find(([of]) => of === session)?.[1];
  if (vendor === "web") return ON_THE_PAGE;
  if (vendor === "files") return WITH_FILES;
  if (isGroup(session)) return session % 4 === 1 ? IN_GROUPS : BY_SERVERS;
  return session % 4 === 2 && session < 9000 ? LATER : IN_DIRECT;
}

/** A text with these words is refused for good by the platforms of the relays. */
export const REFUSED = "refused by the platform";

/** A message of a session; numbers rise by one in the order in which the platform had them acknowledged. */
export interface Tag {
  readonly session: number;
  readonly number: number;
  readonly kind: Kind;
}

/** How the history shows that a summary stands for its older part. */
const SUMMARY = "The earlier part of this conversation was replaced by this summary:";
const NAMES_IN_LINE = 10;
const OUTCOME_UNKNOWN = "Outcome unknown";
const NOT_RUN = "Not run: the user sent a message first";

/** Short name of a message, the same in requests, effects and replies. */
export function nameOf({ session, number }: Tag): string {
  return `s${session}.${number}`;
}

/** The text a person writes. */
export function textOf(tag: Tag): string {
  return isCommand(tag.kind) ? `/${tag.kind}` : `<<${nameOf(tag)} ${tag.kind}>> please`;
}

/** The same after its person has changed it. */
export function editedTextOf(tag: Tag): string {
  return `<<${nameOf(tag)} ${tag.kind} ${EDITED}>> please`;
}

/** What an answer says that has read the changed text. */
export function readText(name: string): string {
  return `read ${name}${EDITED}`;
}

/**
 * What a long answer says after its first lines: a word to know each piece by, and enough to fill a message of a relay.
 */
export function furtherParts(name: string): { readonly mark: string; readonly text: string }[] {
  return [2, 3].map((part) => {
    const mark = `part${part}:${name};`;
    return { mark, text: `${mark} ${"and so on ".repeat(15)}`.trim() };
  });
}

export function sideText(name: string): string {
  return `side ${name}!`;
}

/**
 * What comes back by itself, by its words: what was scheduled, a task before a sub-agent, and what that one reports.
 */
const COMES_BACK = /(wake|task|report) of (s\d+\.\d+);/g;
type Owed = "wake" | "task" | "report";

export function comesBackText(kind: Owed, name: string): string {
  return `${kind} of ${name};`;
}

/** What is said once it has come: a sub-agent says its report. */
export function heardText(kind: Owed, name: string): string {
  return kind === "task" ? comesBackText("report", name) : `heard ${kind} ${name}!`;
}

/** What has come back in a text. */
export function comingBackIn(text: string): { readonly kind: Owed; readonly name: string }[] {
  return [...text.matchAll(COMES_BACK)].flatMap(([, kind, name]) =>
    name !== undefined && (kind === "wake" || kind === "task" || kind === "report") ? [{ kind, name }] : [],
  );
}

/** Names that a reply says it answers, each as often as it is said. */
export function answeredIn(text: string): string[] {
  return [...text.matchAll(/done((?: s\d+\.\d+)+)/g)].flatMap(([, names]) => (names ?? "").trim().split(" "));
}

const EDITED = "#1";
/** What the gateway says of messages that were deleted while the model worked on them. */
const TAKEN_BACK = "(deleted) Their senders took";
/** What memory has of earlier messages, beside a message: nobody says it now. */
const RECALLED = /From memory, perhaps outdated \(untrusted\):\n(`{3,})[\s\S]*?\n\1/g;
const TAG = /(\(edited\) )?<<s(\d+)\.(\d+) (\w+)( #1)?>>/g;

/** `late`: it only says how a message reads by now. */
export function tagsIn(text: string): (Tag & { readonly edited: boolean; readonly late: boolean })[] {
  return [...text.matchAll(TAG)].flatMap(([, late, session, number, word, edited]) => {
    const kind = KINDS.find((one) => one === word);
    const how = { edited: edited !== undefined, late: late !== undefined };
    const place = { session: Number(session), number: Number(number), ...how };
    return kind === undefined ? [] : [{ ...place, kind }];
  });
}

/** A conversation as a request shows it. */
export interface Seen {
  /** Every message of a person in the order of the conversation. */
  readonly said: readonly Tag[];
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
  const messages = isRaw(request) ? listOf(request["messages"]) : [];
  for (const { role, content } of messages) {
    for (const block of listOf(content)) {
      if (role === "user" && block["type"] === "text" && !textIn([block]).startsWith(SUMMARY)) {
        const [text = "", gone = ""] = textIn([block]).replace(RECALLED, "").split(TAKEN_BACK);
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
      const [, command] = /\[(\w+) runs in the background/.exec(result) ?? [];
      if (command !== undefined) commands.set(name, command);
      if (/\[\w+ has ended: exit code 0\]/.test(result)) ended.add(name);
    }
  }
  return {
    said,
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

/** How many turns were asked for: calls have new ids each time, as a vendor's have, also where a turn is repeated. */
let turns = 0;

/** What the model does next. Its wait depends on the conversation only, so that a run asked again is the same run. */
export function nextTurn(request: unknown): ScriptedTurn {
  turns++;
  if (asksForSummary(request)) return { text: "Notes of all that was said.", delayMs: 20 };
  const { open, owed, edited, calls, skipped, commands, unknown, said } = readConversation(request);
  const last = said.at(-1);
  const random = seeded((last?.session ?? 0) * 7919 + (last?.number ?? 0) * 31 + calls.size);
  const pace = { delayMs: random.int(0, 30), deltaMs: random.int(0, 8), chunks: random.int(1, 6) };
  for (const tag of open) {
    const name = nameOf(tag);
    const made = calls.get(name) ?? 0;
    const call = callOf(tag, made - (skipped.get(name) ?? 0), commands.get(name));
    const text = tag.kind === "retract" ? sideText(name) : `on ${tag.session}`;
    if (call !== undefined) return { ...pace, text, toolCalls: [call] };
  }
  for (const { kind, name } of owed)
    if (kind === "task" && !calls.has(name)) return { ...pace, toolCalls: [taskCall(name)] };
  const [only] = open;
  const corrections = edited.map(readText);
  if (open.length + corrections.length + owed.length === 1 && only !== undefined) {
    if (only.kind === "silent") return { ...pace, text: SILENT_TOKEN };
    if (only.kind === "echo" && !unknown.has(nameOf(only))) return { ...pace, text: sideText(nameOf(only)) };
  }
  const lines = [
    ...inLines(open.map(nameOf)).map((names) => `done ${names.join(" ")}`),
    ...corrections,
    ...owed.map(({ kind, name }) => heardText(kind, name)),
    ...(open.some(({ kind }) => kind === "refused") ? [REFUSED] : []),
    ...open.flatMap((tag) => (tag.kind === "long" ? furtherParts(nameOf(tag)).map(({ text }) => text) : [])),
  ];
  // All that may be left is what the tool has said.
  return { ...pace, text: lines.length === 0 ? SILENT_TOKEN : lines.join("\n\n") };
}

/** So many at once that no line is longer than a message of a relay. */
function inLines(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / NAMES_IN_LINE) }, (_, line) =>
    names.slice(line * NAMES_IN_LINE, (line + 1) * NAMES_IN_LINE),
  );
}

/** What a sub-agent does. */
function taskCall(name: string): ScriptedToolCall {
  const command = `echo ${effectOf("delegate", name)} >> effects.log`;
  return { id: `task_${name.replace(".", "_")}_${turns}`, name: "exec", input: { command } };
}

/** The line that stands in the log of effects for what a message asked for. */
export function effectOf(kind: Kind, name: string): string {
  return kind === "delegate" || kind === "enter" || kind === "background" ? `${kind} ${name}` : name;
}

/** What stands there once a command in the background was given its word. */
export function heardEffectOf(name: string): string {
  return `heard ${name}`;
}

/** In the text of each command in the background of these worlds: what is still there is found by it. */
export const BACKGROUND_MARK = `background-of-${process.pid}`;

/** So long a command waits for its word: longer than anybody looks for what a process has left behind. */
const WORD_S = 30;

/** Waits for a word, which not every message gives it. */
function backgroundCommand(name: string): string {
  return [
    `: ${BACKGROUND_MARK}`,
    `echo ${effectOf("background", name)} >> effects.log`,
    `word=$(timeout ${WORD_S} head -n 1)`,
    `test "$word" = go && echo ${heardEffectOf(name)} >> effects.log`,
  ].join("; ");
}

/**
 * The `step`-th call that a message wants.
 *
 * @param command what it has started in the background; where that is not known, there is nothing more to do
 */
function callOf(tag: Tag, step: number, command?: string): ScriptedToolCall | undefined {
  const name = nameOf(tag);
  const id = `call_s${tag.session}_${tag.number}_${turns}`;
  const note = { file_path: `notes/${name}.txt`, content: `${name}\n` };
  const steps: Readonly<Partial<Record<Kind, readonly ScriptedToolCall[]>>> = {
    write: [{ id, name: "write", input: note }],
    send: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    echo: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    retract: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    exec: [{ id, name: "exec", input: { command: `echo ${name} >> effects.log` } }],
    schedule: [{ id, name: "cron", input: { action: "add", text: comesBackText("wake", name), in: "1s" } }],
    delegate: [
      {
        id,
        name: "sessions_spawn",
        input: { task: comesBackText("task", name), label: "work", tools: ["exec"] },
      },
    ],
    background: [
      { id, name: "exec", input: { command: backgroundCommand(name), background: true } },
      ...(command === undefined ? [] : [{ id, name: "process", input: wordOf(tag, command) }]),
    ],
    enter: [{ id, name: "mcp__ledger__enter", input: { line: effectOf("enter", name) } }],
    steps: [
      { id, name: "write", input: note },
      { id, name: "read", input: { file_path: note.file_path } },
      { id, name: "exec", input: { command: `echo ${name} >> effects.log` } },
      { id, name: "message", input: { action: "send", message: sideText(name) } },
    ],
  };
  return steps[tag.kind]?.[step];
}

function wordOf({ number }: Tag, id: string): ScriptedToolCall["input"] {
  return number % 2 === 0 ? { action: "kill", id } : { action: "write", id, input: "go\n", wait_seconds: 5 };
}
