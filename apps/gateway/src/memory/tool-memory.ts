import type { Chunk, ChunkInContext, Memory } from "@signalbox/memory";
import type { AgentMemory, RunFacts } from "@signalbox/tools";
import type { Agent } from "../resolve/agents.ts";
import { noteScopeOf, OWNERS, readerOf } from "./listeners.ts";
import type { Memories } from "./memories.ts";

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
        untrusted: hits.some(({ untrusted }) => untrusted !== undefined),
      };
    },
    async get(id, facts) {
      const chunk = await (await memory()).get(id, { reader: readerFor(facts), neighbours: 2 });
      if (chunk === undefined) return undefined;
      const all = [...chunk.before, chunk, ...chunk.after];
      return {
        text: inContext(chunk, Number.POSITIVE_INFINITY),
        untrusted: all.some(({ untrusted }) => untrusted !== undefined),
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
    writesOwnNotes: ({ sessionKey, role }) => noteScopeOf(sessionKey, role) === OWNERS,
  };
}

function inContext(chunk: ChunkInContext, chars: number): string {
  const around = (chunks: readonly Chunk[]) => chunks.map((each) => `  ${line(each, Math.min(chars, 300))}`);
  return [...around(chunk.before), `[${chunk.id}]`, line(chunk, chars), ...around(chunk.after)].join("\n");
}

function line({ at, author, note, untrusted, text }: Chunk, chars: number): string {
  const about = [
    at === undefined ? "lasting" : new Date(at).toISOString().slice(0, 16),
    author?.name ?? author?.id,
    note?.headings.join(" > ") === "" ? undefined : note?.headings.join(" > "),
    untrusted === undefined ? undefined : `untrusted: ${untrusted}`,
  ].filter((part) => part !== undefined);
  return `(${about.join(", ")}) ${text.length > chars ? `${text.slice(0, chars)}…` : text}`;
}
