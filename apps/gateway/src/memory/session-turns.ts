import type { Turn, TurnPage, TurnSource } from "@signalbox/memory";
import type { Session, SessionMessage } from "@signalbox/store";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { isOfGroup, scopeOf } from "./listeners.ts";

/** Sessions looked at for news; the first look is at all of them. */
const NEWEST = 50;
const ALL = 1_000_000;
const PAGE = 200;

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
      const changed = listed.filter(({ key, lastSeq }) => lastSeq > (marks[key] ?? 0));
      for (const session of changed.toReversed()) {
        if (turns.length >= limit) return { turns, cursor: JSON.stringify(marks), last: false };
        const messages = await messagesAfter(sessions, session.key, marks[session.key] ?? 0);
        turns.push(...messages.flatMap((message) => turnOf(session, message) ?? []));
        marks[session.key] = session.lastSeq;
      }
      looked = true;
      return { turns, cursor: JSON.stringify(marks), last: true };
    },
  };
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

/** What people and the agent said; nothing of tools, summaries and silence. */
function turnOf(session: Session, { seq, message, at }: Message): Turn | undefined {
  const { key, agentId } = session;
  const about = { id: `${key}#${seq}`, at, chat: key, scope: scopeOf(key) };
  if (message.role === "user") {
    const [, name, text] = ENVELOPE.exec(textOf(message.content)) ?? [];
    const said = (text ?? textOf(message.content)).trim();
    if (said === "") return undefined;
    // A name is chosen by whoever bears it, and makes nobody a person who may see something.
    const id = isOfGroup(key) || name === undefined ? `name:${name ?? session.peer}` : authorOf(session);
    const author = { id, ...(name === undefined ? {} : { name }) };
    return { ...about, text: said, author, ...(isOfGroup(key) ? { untrusted: "a group" } : {}) };
  }
  if (message.role !== "assistant") return undefined;
  const said = textOf(message.content).trim();
  const seen = taintOf(session);
  return said === ""
    ? undefined
    : {
        ...about,
        text: said,
        author: { id: `agent:${agentId}` },
        ...(seen === undefined ? {} : { untrusted: seen }),
      };
}

function authorOf({ key }: Session): string {
  const scope = scopeOf(key);
  return scope.kind === "person" ? scope.person : key;
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content
    .flatMap(({ type, text }) => (type === "text" && text !== undefined ? [text] : []))
    .join("\n");
}

/** What others wrote stands in a conversation: then what the agent says there may be theirs. */
function taintOf({ data }: Session): string | undefined {
  if (typeof data !== "object" || data === null || !("taint" in data)) return undefined;
  const { taint } = data;
  if (typeof taint !== "object" || taint === null || !("sources" in taint)) return undefined;
  const { sources } = taint;
  return Array.isArray(sources) && sources.length > 0 ? sources.join(", ") : undefined;
}
