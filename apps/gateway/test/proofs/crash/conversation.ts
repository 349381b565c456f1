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
export type Owed = "wake" | "task" | "report";

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

/** The line that stands in the log of effects for what a message asked for. */
export function effectOf(kind: Kind, name: string): string {
  return kind === "delegate" || kind === "enter" || kind === "background" ? `${kind} ${name}` : name;
}

/** What stands there once a command in the background was given its word. */
export function heardEffectOf(name: string): string {
  return `heard ${name}`;
}
