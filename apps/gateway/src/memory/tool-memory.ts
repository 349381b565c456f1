import type { Chunk, ChunkInContext, Memory } from "@signalbox/memory";
import type { AgentMemory, RunFacts } from "@signalbox/tools";
import type { Agent } from "../resolve/agents.ts";
import { isShared, noteScopeOf, OWNERS, readerOf, scopeOf } from "./listeners.ts";
import type { Memories } from "./memories.ts";
import { holdsUntrusted, isUntrusted } from "./trust.ts";

/** Of one entry in a list; `memory_get` gives it in full. */
const SHOWN_CHARS = 700;

/** An agent's memory for its tools: each call sees and writes what its run may. */
export function toolMemory(memories: Memories, agent: Pick<Agent, "id" | "workspaceDir">): AgentMemory {
  const memory = (): Promise<Memory> => memories.of(agent);
  const readerFor = ({ sessionKey, role }: RunFacts) => readerOf(sessionKey, role);

  return {
    async search(query, limit, facts) {
      const { hits, summary } = await (await memory()).search(query, { limit, reader: readerFor(facts) });
      return {
        text: [summary, ...hits.map((hit) => inContext(hit, SHOWN_CHARS))].join("\n\n"),
        untrusted: hits.some(holdsUntrusted),
      };
    },
    async get(id, facts) {
      const chunk = await (await memory()).get(id, { reader: readerFor(facts), neighbours: 2 });
      if (chunk === undefined) return undefined;
      return {
        text: inContext(chunk, Number.POSITIVE_INFINITY),
        untrusted: holdsUntrusted(chunk),
      };
    },
    async write({ text, lasting, untrusted }, { sessionKey, role, speaker }) {
      return (await memory()).write({
        text,
        kind: lasting ? "lasting" : "daily",
        scope: noteScopeOf(sessionKey, role),
        chat: sessionKey,
        ...(speaker === undefined ? {} : { author: speaker }),
        ...(untrusted === undefined ? {} : { untrusted }),
      });
    },
    forget: async (ids, facts) => (await memory()).forget(ids, { reader: readerFor(facts) }),
    async areOthers(ids, facts) {
      if (isShared(facts.sessionKey) && facts.role !== "owner") return true;
      const reader = readerFor(facts);
      const opened = await memory();
      const chunks = await Promise.all(ids.map((id) => opened.get(id, { reader, neighbours: 0 })));
      return chunks.some((chunk) => chunk !== undefined && !isOf(chunk, facts));
    },
    writesOwnNotes: ({ sessionKey, role }) => noteScopeOf(sessionKey, role) === OWNERS,
  };
}

/** Whether the one who speaks said it; in private with one person that is told by the session. */
function isOf({ author }: Chunk, { sessionKey, speaker }: RunFacts): boolean {
  if (author === undefined || speaker === undefined) return false;
  const scope = scopeOf(sessionKey);
  return author.id === speaker || (scope.kind === "person" && author.id === scope.person);
}

function inContext(chunk: ChunkInContext, chars: number): string {
  const around = (chunks: readonly Chunk[]) => chunks.map((each) => `  ${line(each, Math.min(chars, 300))}`);
  return [...around(chunk.before), `[${chunk.id}]`, line(chunk, chars), ...around(chunk.after)].join("\n");
}

function line(chunk: Chunk, chars: number): string {
  const { at, author, note, untrusted, text } = chunk;
  const about = [
    at === undefined ? "lasting" : new Date(at).toISOString().slice(0, 16),
    author?.name ?? author?.id,
    note?.headings.join(" > ") === "" ? undefined : note?.headings.join(" > "),
    isUntrusted(chunk) ? `untrusted: ${untrusted ?? "no owner's word"}` : undefined,
  ].filter((part) => part !== undefined);
  return `(${about.join(", ")}) ${text.length > chars ? `${text.slice(0, chars)}…` : text}`;
}
