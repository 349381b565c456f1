import { setImmediate } from "node:timers/promises";
import type { AgentMessage, UserMessage } from "@signalbox/agent-core";
import type { TurnSource } from "../turns/turn-log.ts";
import type { Author, Turn } from "../types.ts";
import { isShared, scopeOf } from "./session-access.ts";

/** A session of the host. */
export interface StoredSession {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  /** Id of the person, group or channel of the session. */
  readonly peer: string;
  /** Sequence number of the newest message. */
  readonly lastSeq: number;
  /** Time of the latest activity, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The run that is in progress. */
  readonly activeRun?: string;
  /** Data of the host. */
  readonly data?: unknown;
}

/** One message of a session. */
export interface StoredMessage {
  readonly seq: number;
  /** Number of earlier resets of the session. */
  readonly generation: number;
  readonly message: AgentMessage;
  readonly runId?: string;
  readonly at: number;
}

/** The host's conversations. */
export interface SessionLog {
  /**
   * Lists sessions, latest activity first: those after `behind` in this order, with activity at or after `since`.
   */
  list(filter: {
    readonly agentId: string;
    readonly behind?: StoredSession;
    readonly since?: number;
    readonly limit: number;
  }): Promise<readonly StoredSession[]>;
  /** Returns messages, newest first. */
  transcript(
    key: string,
    options: { readonly before?: number; readonly after: number; readonly limit: number },
  ): Promise<readonly StoredMessage[]>;
}

/** Untrusted content in a session. */
export interface SessionTaint {
  /** The generation that it applies to. */
  readonly generation: number;
  /** Sources of untrusted content, for example `web`. */
  readonly sources: readonly string[];
  /** Ids of people other than owners who have spoken. */
  readonly speakers: readonly string[];
}

interface ParsedMessage {
  readonly name?: string;
  readonly text: string;
}

export interface SessionTurnsOptions {
  readonly sessions: SessionLog;
  readonly agentId: string;
  /** Excludes sessions, for example those of one-off requests. Default: none. */
  readonly isExcluded?: (session: StoredSession) => boolean;
  /**
   * Parses a stored user message into the sender's name and text. Returns `undefined` for messages of the host itself.
   * Default: the whole text.
   */
  readonly parseMessage?: (text: string) => ParsedMessage | undefined;
  /** Returns the taint of a session. Default: private sessions are trusted. */
  readonly taintOf?: (session: StoredSession) => SessionTaint | undefined;
}

const SESSIONS_PER_PAGE = 100;
const MESSAGES_PER_PAGE = 200;
/** Maximum number of characters of a message that are indexed. Longer messages would keep the index busy. */
const MAX_TURN_CHARS = 20_000;
/** Mark of an index that contains all conversations. A rebuilt index does not have this mark. */
const WHOLE = "whole";
/**
 * Sessions are checked again if their latest activity is within this many milliseconds of the last check, in case a
 * clock was set back.
 */
const CLOCK_TOLERANCE_MS = 5_000;
/** Sessions are listed from this many milliseconds before the last check, in case a clock was set back further. */
const LISTED_BACK_MS = 24 * 60 * 60_000;

/**
 * Creates a source of an agent's conversations from the host's store. Each message is indexed once, even after a
 * restart.
 */
export function createSessionTurns(options: SessionTurnsOptions): TurnSource {
  const { sessions, agentId, isExcluded = () => false } = options;
  /** The latest activity that has been indexed. */
  let seen = Number.NEGATIVE_INFINITY;
  return {
    async *read(marks, limit) {
      const markOf = ({ key, lastSeq }: StoredSession): number => {
        const mark = Number(marks.get(key) ?? 0);
        // The session was removed and then recreated.
        return mark > lastSeq ? 0 : mark;
      };
      const isWhole = marks.get(WHOLE) !== undefined;
      const since = isWhole ? seen - CLOCK_TOLERANCE_MS : Number.NEGATIVE_INFINITY;
      const active = await activeSince(sessions, agentId, since);
      const changed = active.filter((session) => !isExcluded(session) && session.lastSeq > markOf(session));
      let turns: Turn[] = [];
      let moved = new Map<string, string>();
      for (const session of changed.toReversed()) {
        const messages = completed(session, await messagesAfter(sessions, session.key, markOf(session)));
        turns.push(...messages.flatMap((message) => toTurn(options, session, message) ?? []));
        const last = messages.at(-1);
        if (last !== undefined) moved.set(session.key, String(last.seq));
        if (turns.length < limit) continue;
        yield { turns, marks: moved };
        turns = [];
        moved = new Map();
      }
      if (!isWhole) moved.set(WHOLE, "yes");
      if (moved.size > 0) yield { turns, marks: moved };
      seen = Math.max(seen, active[0]?.updatedAt ?? seen);
    },
    async gone(chats) {
      const messages = await Promise.all(
        chats.map((chat) => sessions.transcript(chat, { after: 0, limit: 1 })),
      );
      return chats.filter((_, index) => messages[index]?.length === 0);
    },
  };
}

/** Lists sessions with activity since a time, latest first. */
async function activeSince(
  sessions: SessionLog,
  agentId: string,
  since: number,
): Promise<readonly StoredSession[]> {
  const active = new Map<string, StoredSession>();
  const from = Number.isFinite(since) ? since - LISTED_BACK_MS : undefined;
  let last: StoredSession | undefined;
  for (;;) {
    const page = await sessions.list({ agentId, limit: SESSIONS_PER_PAGE, behind: last, since: from });
    for (const session of page) active.set(session.key, session);
    last = page.at(-1);
    if (page.length < SESSIONS_PER_PAGE || last === undefined || last.updatedAt < since)
      return [...active.values()];
    await setImmediate();
  }
}

/** Omits the messages of a run in progress, because it may still read untrusted content, which would mark them. */
function completed(
  { activeRun, lastSeq }: StoredSession,
  messages: readonly StoredMessage[],
): readonly StoredMessage[] {
  const open = messages.findIndex(
    ({ seq, runId }) => seq > lastSeq || (activeRun !== undefined && runId === activeRun),
  );
  return open < 0 ? messages : messages.slice(0, open);
}

/** Returns messages in order. */
async function messagesAfter(
  sessions: SessionLog,
  key: string,
  after: number,
): Promise<readonly StoredMessage[]> {
  const messages: StoredMessage[] = [];
  let before: number | undefined;
  for (;;) {
    const page = await sessions.transcript(key, { after, limit: MESSAGES_PER_PAGE, before });
    messages.push(...page);
    before = page.at(-1)?.seq;
    if (page.length < MESSAGES_PER_PAGE) return messages.reverse();
  }
}

/** Converts a message from a person or the agent. Omits tool results, summaries and empty messages. */
function toTurn(
  options: SessionTurnsOptions,
  session: StoredSession,
  { seq, generation, message, at }: StoredMessage,
): Turn | undefined {
  if (message.role !== "user" && message.role !== "assistant") return undefined;
  const { key, agentId } = session;
  const whole = textOf(message.content);
  const parse = message.role === "user" ? options.parseMessage : undefined;
  const parsed: ParsedMessage | undefined = parse === undefined ? { text: whole } : parse(whole);
  const text = parsed?.text.trim().slice(0, MAX_TURN_CHARS) ?? "";
  if (text === "") return undefined;
  return {
    id: formatTurnId(key, seq),
    at,
    chat: key,
    scope: scopeOf(key),
    text,
    author:
      message.role === "assistant" ? { id: `agent:${agentId}` } : authorOf(session, message, parsed?.name),
    untrusted: untrustedIn(key, options.taintOf?.(session), generation),
  };
}

function formatTurnId(sessionKey: string, seq: number): string {
  return `${sessionKey}#${seq}`;
}

/** Parses the id of a turn of {@link createSessionTurns}. Returns `undefined` for other ids, such as those of notes. */
export function parseTurnId(id: string): { readonly sessionKey: string; readonly seq: number } | undefined {
  const [, sessionKey, seq] = /^(agent:.+)#(\d+)$/s.exec(id) ?? [];
  return sessionKey === undefined ? undefined : { sessionKey, seq: Number(seq) };
}

/**
 * Returns the author of a user message. In a private session, this is the session's person. In a group, it is the
 * sender's immutable id, by which people find their own messages in private. A display name does not identify a person.
 */
function authorOf({ key, peer }: StoredSession, { senderId }: UserMessage, name: string | undefined): Author {
  const scope = scopeOf(key);
  if (senderId === undefined && name === undefined) return { id: `name:${peer}` };
  if (scope.kind === "person") return { id: scope.person, name };
  return { id: senderId ?? `name:${name}`, name };
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
    .join("\n");
}

/**
 * Returns the source of untrusted content that a message of a session may repeat. Once the current generation has its
 * own taint, that of an earlier generation is unknown.
 */
function untrustedIn(key: string, taint: SessionTaint | undefined, generation: number): string | undefined {
  if (isShared(key)) return "a conversation of several people";
  if (taint === undefined || taint.generation < generation) return undefined;
  if (taint.generation > generation) return "an earlier conversation";
  return [...taint.sources, ...taint.speakers].join(", ") || undefined;
}
