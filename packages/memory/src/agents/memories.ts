import { join } from "node:path";
import type { Memory } from "../memory.ts";
import type { TurnSource } from "../turns/turn-log.ts";
import type { Chunk, Reader } from "../types.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { OWNERS } from "./session-access.ts";

/** An agent that has a memory. */
export interface MemoryAgent {
  readonly id: string;
  /** Id of the memory, if an agent has several, for different sessions. Default: `id` */
  readonly shardId?: string;
  /** The notes are in its folder `memory`. */
  readonly workspaceDir: string;
}

export interface MemoriesOptions {
  /** Returns the path of a memory's index. */
  readonly index: (shardId: string) => string;
  /** Returns the conversations in a memory. */
  readonly turns: (shardId: string) => TurnSource;
  /** Called when a memory is opened. Default: searches use only words. */
  readonly embedder?: (agentId: string) => Promise<Embedder | undefined>;
  /** See `MemoryOptions`. Called when a memory is opened. */
  readonly halfLifeDays?: () => number;
  readonly now?: () => number;
  /**
   * Called and awaited before an agent forgets entries, so that the host can remove its own copies. `sessionKey` is the
   * session of the request.
   */
  readonly onForget?: (agentId: string, entries: readonly Chunk[], sessionKey: string) => Promise<void>;
  readonly onProblem?: (agentId: string, problem: string, error: unknown) => void;
}

/** The memories of all agents, opened on demand. */
export interface Memories {
  /**
   * Returns the memory of an agent. It stays usable after `reopen`, because each call uses the memory that is open at
   * that time.
   */
  of(agent: MemoryAgent): Promise<Memory>;
  /**
   * Forgets entries.
   *
   * @param sessionKey the session of the request
   * @returns the ids of those that existed and that the reader may see
   */
  forget(
    agent: MemoryAgent,
    ids: readonly string[],
    reader: Reader | "all",
    sessionKey: string,
  ): Promise<readonly string[]>;
  /** Reopens each memory when it is next needed, with the options at that time. Pending calls finish first. */
  reopen(): void;
  close(): Promise<void>;
}

/** Returns the folder of an agent's notes. */
export function getNotesFolder({ workspaceDir }: MemoryAgent): string {
  return join(workspaceDir, "memory");
}

function getShardId({ id, shardId = id }: MemoryAgent): string {
  return shardId;
}

interface OpenMemory {
  readonly folder: string;
  readonly memory: Promise<Memory>;
  /** Pending calls. */
  readonly calls: Set<Promise<unknown>>;
}

/** Creates the memories of a host's agents. Each one is opened when it is first needed. */
export function createMemories(options: MemoriesOptions): Memories {
  const opened = new Map<string, OpenMemory>();
  /** Replaced memories with pending calls. */
  const retiring = new Set<OpenMemory>();

  async function open(agent: MemoryAgent, folder: string): Promise<Memory> {
    const { id } = agent;
    const shardId = getShardId(agent);
    const { index, turns, embedder, onProblem, halfLifeDays, now } = options;
    const { createMemory } = await import("../create-memory.ts");
    const embeddings = await embedder?.(id);
    return createMemory({
      folder,
      index: index(shardId),
      turns: turns(shardId),
      topScope: OWNERS,
      halfLifeDays: halfLifeDays?.(),
      now,
      onProblem: (problem, error) => onProblem?.(id, problem, error),
      embeddings,
    });
  }

  function openedFor(agent: MemoryAgent): OpenMemory {
    const folder = getNotesFolder(agent);
    const key = getShardId(agent);
    const before = opened.get(key);
    if (before?.folder === folder) return before;
    if (before !== undefined) retire(before);
    const current = { folder, memory: open(agent, folder), calls: new Set<Promise<unknown>>() };
    opened.set(key, current);
    // The next call tries again, because the cause (for example a missing folder) may be temporary.
    current.memory.catch(() => {
      if (opened.get(key) === current) opened.delete(key);
    });
    return current;
  }

  function retire(one: OpenMemory): void {
    retiring.add(one);
    void Promise.allSettled(one.calls).then(async () => {
      if (retiring.delete(one)) await closed(one);
    });
  }

  async function call<T>(agent: MemoryAgent, work: (memory: Memory) => Promise<T>): Promise<T> {
    const { memory, calls } = openedFor(agent);
    const done = memory.then(work);
    calls.add(done);
    try {
      return await done;
    } finally {
      calls.delete(done);
    }
  }

  async function of(agent: MemoryAgent): Promise<Memory> {
    await openedFor(agent).memory;
    return throughCalls((work) => call(agent, work));
  }

  return {
    of,
    async forget(agent, ids, reader, sessionKey) {
      const memory = await of(agent);
      const { onForget = async () => {} } = options;
      return memory.forget(ids, { reader, before: (entries) => onForget(agent.id, entries, sessionKey) });
    },
    reopen() {
      for (const one of opened.values()) retire(one);
      opened.clear();
    },
    async close() {
      const all = [...opened.values(), ...retiring];
      opened.clear();
      retiring.clear();
      await Promise.all(all.map(closed));
    },
  };
}

function throughCalls(call: <T>(work: (memory: Memory) => Promise<T>) => Promise<T>): Memory {
  return {
    add: (turns) => call((memory) => memory.add(turns)),
    search: (query, how) => call((memory) => memory.search(query, how)),
    recall: (message, how) => call((memory) => memory.recall(message, how)),
    get: (id, how) => call((memory) => memory.get(id, how)),
    list: (how) => call((memory) => memory.list(how)),
    notes: (scope) => call((memory) => memory.notes(scope)),
    write: (note) => call((memory) => memory.write(note)),
    edit: (change) => call((memory) => memory.edit(change)),
    forget: (ids, how) => call((memory) => memory.forget(ids, how)),
    consolidate: (how) => call((memory) => memory.consolidate(how)),
    log: (scope) => call((memory) => memory.log(scope)),
    restore: (version) => call((memory) => memory.restore(version)),
    refresh: () => call((memory) => memory.refresh()),
    rebuild: () => call((memory) => memory.rebuild()),
    embedded: () => call((memory) => memory.embedded()),
    status: () => call((memory) => memory.status()),
    close: () => call((memory) => memory.close()),
  };
}

async function closed({ memory }: OpenMemory): Promise<void> {
  await (await memory.catch(() => undefined))?.close();
}
