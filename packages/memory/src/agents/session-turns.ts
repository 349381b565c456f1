import { setImmediate } from "node:timers/promises";
import type { AgentMessage } from "@signalbox/agent-core";
import type { TurnSource } from "../turns/turn-log.ts";
import type { Author, Turn } from "../types.ts";
import { isShared, scopeOf } from "./listeners.ts";

/** A session whose messages are remembered. */
export interface RememberedSession {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  /** The other side. */
  readonly peer: string;
  /** The number of its newest message. */
  readonly lastSeq: number;
  /** Of its newest activity, in milliseconds since the epoch. */
  readonly updatedAt: number;
  /** The run that goes on in it. */
  readonly activeRun?: string;
  /** What its host keeps with it. */
  readonly data?: unknown;
}

/** One message of a session. */
export interface RememberedMessage {
  readonly seq: number;
  /** Counts the new beginnings of its session. */
  readonly generation: number;
  readonly message: AgentMessage;
  readonly runId?: string;
  readonly at: number;
}

/** Where conversations are kept. */
export interface SessionLog {
  /** Newest activity first; `behind`: those that follow this one; `since`: those whose newest was then or later. */
  list(filter: {
    readonly agentId: string;
    readonly behind?: RememberedSession;
    readonly since?: number;
    readonly limit: number;
  }): Promise<readonly RememberedSession[]>;
  /** Newest first. */
  transcript(
    key: string,
    options: { readonly before?: number; readonly after: number; readonly limit: number },
  ): Promise<readonly RememberedMessage[]>;
}

/** What others wrote and was read in a session, and who else than owners has spoken there. */
export interface SessionTaint {
  /** The generation it holds for. */
  readonly generation: number;
  readonly sources: readonly string[];
  readonly speakers: readonly string[];
}

export interface SessionTurnsOptions {
  readonly sessions: SessionLog;
  readonly agentId: string;
  /** Sessions that will not be continued are left out. Default: none. */
  readonly isLeftOut?: (session: RememberedSession) => boolean;
  /** What a person said in a message as the history keeps it; undefined where nobody did. Default: all of it. */
  readonly heard?: (text: string) => { readonly name?: string; readonly text: string } | undefined;
  /** Default: what is said in private is the person's own word. */
  readonly taintOf?: (session: RememberedSession) => SessionTaint | undefined;
}

/** Sessions that are listed at once. */
const LISTED = 100;
const PAGE = 200;
/** Of one turn: more is hardly said, but sent to keep the index busy. */
const TURN_CHARS = 20_000;
/** The mark of an index that all conversations were read into; one that is made anew has none. */
const WHOLE = "whole";
/** Clocks are set back by less, as a rule; sessions of that time are looked at again. */
const SET_BACK_MS = 5_000;
/** Where a clock was set back by more, the first page may have them all the same: not of all that there ever were. */
const LISTED_BACK_MS = 24 * 60 * 60_000;

/** The conversations of an agent, as the store has them: every message once, even after a restart. */
export function sessionTurns(options: SessionTurnsOptions): TurnSource {
  const { sessions, agentId, isLeftOut = () => false } = options;
  /** The newest activity that was seen; of what was before, there is no news. */
  let seen = Number.NEGATIVE_INFINITY;
  return {
    async *read(marks, limit) {
      const markOf = ({ key, lastSeq }: RememberedSession): number => {
        const mark = Number(marks.get(key) ?? 0);
        // One that was removed began anew.
        return mark > lastSeq ? 0 : mark;
      };
      const isWhole = marks.get(WHOLE) !== undefined;
      const since = isWhole ? seen - SET_BACK_MS : Number.NEGATIVE_INFINITY;
      const active = await activeSince(sessions, agentId, since);
      const changed = active.filter((session) => !isLeftOut(session) && session.lastSeq > markOf(session));
      let turns: Turn[] = [];
      let moved = new Map<string, string>();
      for (const session of changed.toReversed()) {
        const messages = settled(session, await messagesAfter(sessions, session.key, markOf(session)));
        turns.push(...messages.flatMap((message) => turnOf(options, session, message) ?? []));
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

/** Newest activity first; the first time, all there are. */
async function activeSince(
  sessions: SessionLog,
  agentId: string,
  since: number,
): Promise<readonly RememberedSession[]> {
  const active = new Map<string, RememberedSession>();
  const from = Number.isFinite(since) ? { since: since - LISTED_BACK_MS } : {};
  let last: RememberedSession | undefined;
  for (;;) {
    const behind = last === undefined ? {} : { behind: last };
    const page = await sessions.list({ agentId, limit: LISTED, ...behind, ...from });
    for (const session of page) active.set(session.key, session);
    last = page.at(-1);
    if (page.length < LISTED || last === undefined || last.updatedAt < since) return [...active.values()];
    await setImmediate();
  }
}

/** What a run says and hears is read once it is over: until then nobody knows what else it reads. */
function settled(
  { activeRun, lastSeq }: RememberedSession,
  messages: readonly RememberedMessage[],
): readonly RememberedMessage[] {
  const open = messages.findIndex(
    ({ seq, runId }) => seq > lastSeq || (activeRun !== undefined && runId === activeRun),
  );
  return open < 0 ? messages : messages.slice(0, open);
}

/** In their order. */
async function messagesAfter(
  sessions: SessionLog,
  key: string,
  after: number,
): Promise<readonly RememberedMessage[]> {
  const messages: RememberedMessage[] = [];
  let before: number | undefined;
  for (;;) {
    const from = before === undefined ? {} : { before };
    const page = await sessions.transcript(key, { after, limit: PAGE, ...from });
    messages.push(...page);
    before = page.at(-1)?.seq;
    if (page.length < PAGE) return messages.reverse();
  }
}

/** What people and the agent said; nothing of tools, summaries and silence. */
function turnOf(
  options: SessionTurnsOptions,
  session: RememberedSession,
  { seq, generation, message, at }: RememberedMessage,
): Turn | undefined {
  if (message.role !== "user" && message.role !== "assistant") return undefined;
  const { key, agentId } = session;
  const whole = textOf(message.content);
  const heard = message.role === "user" && options.heard ? options.heard(whole) : { text: whole };
  const said = heard?.text.trim().slice(0, TURN_CHARS) ?? "";
  if (said === "") return undefined;
  const untrusted = untrustedIn(key, options.taintOf?.(session), generation);
  return {
    id: `${key}#${seq}`,
    at,
    chat: key,
    scope: scopeOf(key),
    text: said,
    author: message.role === "assistant" ? { id: `agent:${agentId}` } : authorOf(session, heard?.name),
    ...(untrusted === undefined ? {} : { untrusted }),
  };
}

/** A name is chosen by whoever bears it, and makes nobody a person who may see something. */
function authorOf({ key, peer }: RememberedSession, name: string | undefined): Author {
  const scope = scopeOf(key);
  if (name === undefined) return { id: `name:${peer}` };
  return { id: scope.kind === "person" ? scope.person : `name:${name}`, name };
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
    .join("\n");
}

/**
 * What others wrote stands in a conversation: then what is said there may be theirs, whoever says it. Of an earlier
 * conversation in the same place, before a reset, nobody knows it any more once the present one has a taint of its own.
 */
function untrustedIn(key: string, taint: SessionTaint | undefined, generation: number): string | undefined {
  if (isShared(key)) return "a conversation of several people";
  if (taint === undefined || taint.generation < generation) return undefined;
  if (taint.generation > generation) return "an earlier conversation";
  return [...taint.sources, ...taint.speakers].join(", ") || undefined;
}
