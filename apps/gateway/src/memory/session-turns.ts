import type { Author, Turn, TurnPage, TurnSource } from "@signalbox/memory";
import { ONCE } from "@signalbox/server";
import type { Session, SessionMessage } from "@signalbox/store";
import { z } from "zod";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { isShared, scopeOf } from "./listeners.ts";

/** Sessions looked at for news; the first look is at all of them. */
const NEWEST = 50;
const ALL = 1_000_000;
const PAGE = 200;
/** Of one turn: more is hardly said, but sent to keep the index busy. */
const TURN_CHARS = 20_000;

/** What a session's host keeps of what was read in it: see `createTaintMemory`. */
const TAINT = z.object({
  taint: z.object({ generation: z.number(), sources: z.array(z.string()), speakers: z.array(z.string()) }),
});

type Message = SessionMessage<GatewayBodies>;
/** Up to which message each session was read. */
type Watermarks = Record<string, number>;

/** The conversations of an agent, as the store has them: every message once, also after a restart. */
export function sessionTurns({ sessions }: Pick<GatewayStore, "sessions">, agentId: string): TurnSource {
  let looked = false;
  return {
    async read(cursor, limit): Promise<TurnPage> {
      const marks: Watermarks = cursor === undefined ? {} : JSON.parse(cursor);
      const turns: Turn[] = [];
      const listed = await sessions.list({ agentId, limit: looked && cursor !== undefined ? NEWEST : ALL });
      const changed = listed.filter(
        (session) => !isOnce(session) && session.lastSeq > (marks[session.key] ?? 0),
      );
      for (const session of changed.toReversed()) {
        if (turns.length >= limit) return { turns, cursor: JSON.stringify(marks), last: false };
        const messages = settled(
          session,
          await messagesAfter(sessions, session.key, marks[session.key] ?? 0),
        );
        turns.push(...messages.flatMap((message) => turnOf(session, message) ?? []));
        marks[session.key] = messages.at(-1)?.seq ?? marks[session.key] ?? 0;
      }
      looked = true;
      return { turns, cursor: JSON.stringify(marks), last: true };
    },
  };
}

/** Nobody comes back to a conversation of one request. */
function isOnce({ channel, peer }: Session): boolean {
  return channel === "api" && peer.startsWith(ONCE);
}

/** What a run says and hears is read once it is over: until then nobody knows what else it reads. */
function settled({ activeRun, lastSeq }: Session, messages: readonly Message[]): readonly Message[] {
  const open = messages.findIndex(
    ({ seq, runId }) => seq > lastSeq || (activeRun !== undefined && runId === activeRun),
  );
  return open < 0 ? messages : messages.slice(0, open);
}

/** In their order. */
async function messagesAfter(
  sessions: GatewayStore["sessions"],
  key: string,
  after: number,
): Promise<readonly Message[]> {
  const messages: Message[] = [];
  let before: number | undefined;
  for (;;) {
    const page = await sessions.transcript(key, { limit: PAGE, ...(before === undefined ? {} : { before }) });
    messages.push(...page.filter(({ seq }) => seq > after));
    before = page.at(-1)?.seq;
    if (page.length < PAGE || before === undefined || before <= after) return messages.reverse();
  }
}

/** A person's message in a history: see `formatBody` of `@signalbox/prompt`. */
const ENVELOPE = /^\[message_id: [^\n]*\]\n([^:\n]{1,80}): ([\s\S]*)$/;

/** The gateway's own word on messages that were taken back: it quotes them, and nobody is to act on them. */
const TAKEN_BACK = /^\(deleted\) /;

/** What people and the agent said; nothing of tools, summaries and silence. */
function turnOf(session: Session, { seq, generation, message, at }: Message): Turn | undefined {
  if (message.role !== "user" && message.role !== "assistant") return undefined;
  const { key, agentId } = session;
  const whole = textOf(message.content);
  const [, name, text] = message.role === "user" ? (ENVELOPE.exec(whole) ?? []) : [];
  const said = (text ?? whole).trim().slice(0, TURN_CHARS);
  if (said === "" || (message.role === "user" && TAKEN_BACK.test(said))) return undefined;
  const untrusted = untrustedOf(session, generation);
  return {
    ...{ id: `${key}#${seq}`, at, chat: key, scope: scopeOf(key), text: said },
    author: message.role === "assistant" ? { id: `agent:${agentId}` } : authorOf(session, name),
    ...(untrusted === undefined ? {} : { untrusted }),
  };
}

/** A name is chosen by whoever bears it, and makes nobody a person who may see something. */
function authorOf({ key, peer }: Session, name: string | undefined): Author {
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
function untrustedOf({ key, data }: Session, generation: number): string | undefined {
  if (isShared(key)) return "a conversation of several people";
  const taint = TAINT.safeParse(data).data?.taint;
  if (taint === undefined || taint.generation < generation) return undefined;
  if (taint.generation > generation) return "an earlier conversation";
  return [...taint.sources, ...taint.speakers].join(", ") || undefined;
}
