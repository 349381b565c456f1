import { join } from "node:path";
import type { Memory } from "../memory.ts";
import type { TurnSource } from "../turns/turn-log.ts";
import type { Reader } from "../types.ts";
import type { Embedder } from "../vectors/embedder.ts";
import { OWNERS } from "./listeners.ts";

/** An agent, as far as its memory goes. */
export interface RememberingAgent {
  readonly id: string;
  /** Its notes are in the folder `memory` there. */
  readonly workspaceDir: string;
}

export interface MemoriesOptions {
  /** The file of an agent's index. */
  readonly index: (agentId: string) => string;
  /** The conversations of an agent. */
  readonly turns: (agentId: string) => TurnSource;
  /** Asked when a memory is opened. Default: words alone are searched. */
  readonly embedder?: (agentId: string) => Promise<Embedder | undefined>;
  /** See `createMemory`; asked when a memory is opened. */
  readonly halfLifeDays?: () => number;
  readonly now?: () => number;
  /** Awaited once an agent has forgotten something, so that its host forgets what it has put of it elsewhere. */
  readonly onForgotten?: (agentId: string) => Promise<void>;
  readonly onProblem?: (agentId: string, problem: string, error: unknown) => void;
}

/** What each agent remembers. */
export interface Memories {
  /** Each call asks the memory as it is opened by then. */
  of(agent: RememberingAgent): Promise<Memory>;
  /** Forgets entries, and gives the ids of those that it knew and the reader may see. */
  forget(agent: RememberingAgent, ids: readonly string[], reader: Reader): Promise<readonly string[]>;
  /** Each is opened anew when it is next needed, with what applies then. What is under way comes to its end first. */
  reopen(): void;
  close(): Promise<void>;
}

/** Where the notes of an agent are. */
export function notesFolder({ workspaceDir }: RememberingAgent): string {
  return join(workspaceDir, "memory");
}

interface Opened {
  /** Where its notes are. */
  readonly folder: string;
  readonly memory: Promise<Memory>;
  /** Calls that are under way. */
  readonly calls: Set<Promise<unknown>>;
}

/** Opens each memory when it is first needed: until then it costs neither time nor room. */
export function createMemories(options: MemoriesOptions): Memories {
  const opened = new Map<string, Opened>();
  /** Those that another one has taken the place of, until what is asked of them has ended. */
  const retiring = new Set<Opened>();

  async function open({ id }: RememberingAgent, folder: string): Promise<Memory> {
    const { index, turns, embedder, onProblem, halfLifeDays, now } = options;
    const { createMemory } = await import("../create-memory.ts");
    const embeddings = await embedder?.(id);
    return createMemory({
      folder,
      index: index(id),
      turns: turns(id),
      topScope: OWNERS,
      ...(halfLifeDays === undefined ? {} : { halfLifeDays: halfLifeDays() }),
      ...(now === undefined ? {} : { now }),
      onProblem: (problem, error) => onProblem?.(id, problem, error),
      ...(embeddings === undefined ? {} : { embeddings }),
    });
  }

  function openedFor(agent: RememberingAgent): Opened {
    const folder = notesFolder(agent);
    const before = opened.get(agent.id);
    if (before?.folder === folder) return before;
    if (before !== undefined) retire(before);
    const current = { folder, memory: open(agent, folder), calls: new Set<Promise<unknown>>() };
    opened.set(agent.id, current);
    // What failed once, a folder that was away for instance, may be there the next time.
    current.memory.catch(() => {
      if (opened.get(agent.id) === current) opened.delete(agent.id);
    });
    return current;
  }

  function retire(one: Opened): void {
    retiring.add(one);
    void Promise.allSettled(one.calls).then(async () => {
      if (retiring.delete(one)) await closed(one);
    });
  }

  async function call<T>(agent: RememberingAgent, work: (memory: Memory) => Promise<T>): Promise<T> {
    const { memory, calls } = openedFor(agent);
    const done = memory.then(work);
    calls.add(done);
    try {
      return await done;
    } finally {
      calls.delete(done);
    }
  }

  async function of(agent: RememberingAgent): Promise<Memory> {
    await openedFor(agent).memory;
    return throughCalls((work) => call(agent, work));
  }

  return {
    of,
    async forget(agent, ids, reader) {
      const forgotten = await (await of(agent)).forget(ids, { reader });
      if (forgotten.length > 0) await options.onForgotten?.(agent.id);
      return forgotten;
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
    notes: (scope) => call((memory) => memory.notes(scope)),
    write: (note) => call((memory) => memory.write(note)),
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

async function closed({ memory }: Opened): Promise<void> {
  await (await memory.catch(() => undefined))?.close();
}
