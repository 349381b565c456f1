import type { Role } from "@signalbox/routing";
import type { Memory } from "../memory.ts";
import type { Chunk, ChunkInContext } from "../types.ts";
import type { Memories, MemoryAgent } from "./memories.ts";
import { isShared, OWNERS, type SessionAccess, scopeOf } from "./session-access.ts";
import { containsUntrusted, isUntrusted } from "./trust.ts";

/** Maximum number of characters of an entry in a result list. `memory_get` returns the complete entry. */
const MAX_LISTED_CHARS = 700;

/** The run that calls a tool. */
export interface CallingRun {
  readonly sessionKey: string;
  /** The weakest role among the people who have spoken in it. */
  readonly role: Role;
  /** Immutable id of the only person who has spoken in it. Absent if there are several. */
  readonly speaker?: string;
}

/** A result, formatted for a model. */
export interface MemoryText {
  readonly text: string;
  /** True if any of it was written by other people. */
  readonly untrusted: boolean;
}

/** An agent's memory for its tools. Each call reads and writes only what its run may. */
export interface ToolMemory {
  search(query: string, limit: number, run: CallingRun): Promise<MemoryText>;
  /** Returns one entry with its neighbours, or `undefined` if it does not exist. */
  get(id: string, run: CallingRun): Promise<MemoryText | undefined>;
  /**
   * @param entry `untrusted` names a source of untrusted content in the run
   * @returns the id of the entry, and whether it is new
   */
  write(
    entry: { readonly text: string; readonly lasting: boolean; readonly untrusted?: string },
    run: CallingRun,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** @returns the ids of the forgotten entries */
  forget(ids: readonly string[], run: CallingRun): Promise<readonly string[]>;
  /** Returns the texts of the entries that the run may see, and whether all of them are the speaker's own. */
  describe(
    ids: readonly string[],
    run: CallingRun,
  ): Promise<{ readonly texts: readonly string[]; readonly areOwn: boolean }>;
  /** Returns true if the run writes to the owners' notes, which are part of the system prompt. */
  writesOwnersNotes(run: CallingRun): boolean;
}

export function createToolMemory(
  memories: Memories,
  agent: MemoryAgent,
  { readerFor, noteScopeFor }: SessionAccess,
): ToolMemory {
  const memory = (): Promise<Memory> => memories.of(agent);
  const readerOf = ({ sessionKey, role, speaker }: CallingRun) => readerFor(sessionKey, role, speaker);

  return {
    async search(query, limit, run) {
      const { hits, summary } = await (await memory()).search(query, { limit, reader: readerOf(run) });
      return {
        text: [summary, ...hits.map((hit) => inContext(hit, MAX_LISTED_CHARS))].join("\n\n"),
        untrusted: hits.some(containsUntrusted),
      };
    },
    async get(id, run) {
      const chunk = await (await memory()).get(id, { reader: readerOf(run), neighbours: 2 });
      if (chunk === undefined) return undefined;
      return {
        text: inContext(chunk, Number.POSITIVE_INFINITY),
        untrusted: containsUntrusted(chunk),
      };
    },
    async write({ text, lasting, untrusted }, { sessionKey, role, speaker }) {
      return (await memory()).write({
        text,
        kind: lasting ? "lasting" : "daily",
        scope: noteScopeFor(sessionKey, role),
        chat: sessionKey,
        author: speaker === undefined ? undefined : { id: speaker },
        untrusted,
      });
    },
    forget: (ids, run) => memories.forget(agent, ids, readerOf(run), run.sessionKey),
    async describe(ids, run) {
      const reader = readerOf(run);
      const opened = await memory();
      const found = await Promise.all(ids.map((id) => opened.get(id, { reader, neighbours: 0 })));
      const chunks = found.filter((chunk) => chunk !== undefined);
      const isOwnPlace = !isShared(run.sessionKey) || run.role === "owner";
      return {
        texts: chunks.map(({ text }) => text),
        areOwn: isOwnPlace && chunks.every((chunk) => isFrom(chunk, run)),
      };
    },
    writesOwnersNotes: ({ sessionKey, role }) => noteScopeFor(sessionKey, role) === OWNERS,
  };
}

/** Returns true if the speaker wrote a chunk. In a private session, its messages are those of its one person. */
function isFrom({ author }: Chunk, { sessionKey, speaker }: CallingRun): boolean {
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
    isUntrusted(chunk) ? `untrusted: ${untrusted ?? "not from an owner"}` : undefined,
  ].filter((part) => part !== undefined);
  return `(${about.join(", ")}) ${text.length > chars ? `${text.slice(0, chars)}…` : text}`;
}
