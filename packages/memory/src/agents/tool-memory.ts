import type { Memory } from "../memory.ts";
import type { Chunk, ChunkInContext } from "../types.ts";
import { isShared, type Listeners, OWNERS, type Role, scopeOf } from "./listeners.ts";
import type { Memories, RememberingAgent } from "./memories.ts";
import { holdsUntrusted, isUntrusted } from "./trust.ts";

/** Of one entry in a list; `memory_get` gives it in full. */
const SHOWN_CHARS = 700;

/** The run that a tool is called in. */
export interface CallingRun {
  readonly sessionKey: string;
  /** The weakest of those who have spoken in it. */
  readonly role: Role;
  /** Immutable id of the one person who has spoken in it; absent where several did. */
  readonly speaker?: string;
}

/** What memory gave for a question, in words for a model. */
export interface MemoryText {
  readonly text: string;
  /** Whether others wrote any of it. */
  readonly untrusted: boolean;
}

/** An agent's memory for its tools: each call sees and writes what its run may. */
export interface ToolMemory {
  search(query: string, limit: number, run: CallingRun): Promise<MemoryText>;
  /** One entry by its id, with those around it; undefined where there is none. */
  get(id: string, run: CallingRun): Promise<MemoryText | undefined>;
  /** `untrusted` says what others wrote is in the run. Gives the id of the entry. */
  write(
    entry: { readonly text: string; readonly lasting: boolean; readonly untrusted?: string },
    run: CallingRun,
  ): Promise<string>;
  /** Gives the ids of what was forgotten. */
  forget(ids: readonly string[], run: CallingRun): Promise<readonly string[]>;
  /** Whether any of these entries is not the speaker's own. */
  areOthers(ids: readonly string[], run: CallingRun): Promise<boolean>;
  /** Whether what is written goes into the agent's own notes, which stand in its prompt. */
  writesOwnNotes(run: CallingRun): boolean;
}

export function createToolMemory(
  memories: Memories,
  agent: RememberingAgent,
  { readerOf, noteScopeOf }: Listeners,
): ToolMemory {
  const memory = (): Promise<Memory> => memories.of(agent);
  const readerFor = ({ sessionKey, role }: CallingRun) => readerOf(sessionKey, role);

  return {
    async search(query, limit, run) {
      const { hits, summary } = await (await memory()).search(query, { limit, reader: readerFor(run) });
      return {
        text: [summary, ...hits.map((hit) => inContext(hit, SHOWN_CHARS))].join("\n\n"),
        untrusted: hits.some(holdsUntrusted),
      };
    },
    async get(id, run) {
      const chunk = await (await memory()).get(id, { reader: readerFor(run), neighbours: 2 });
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
    forget: (ids, run) => memories.forget(agent, ids, readerFor(run)),
    async areOthers(ids, run) {
      if (isShared(run.sessionKey) && run.role !== "owner") return true;
      const reader = readerFor(run);
      const opened = await memory();
      const chunks = await Promise.all(ids.map((id) => opened.get(id, { reader, neighbours: 0 })));
      return chunks.some((chunk) => chunk !== undefined && !isOf(chunk, run));
    },
    writesOwnNotes: ({ sessionKey, role }) => noteScopeOf(sessionKey, role) === OWNERS,
  };
}

/** Whether the one who speaks said it; in private with one person that is told by the session. */
function isOf({ author }: Chunk, { sessionKey, speaker }: CallingRun): boolean {
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
