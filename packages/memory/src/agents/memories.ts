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
  of(agent: RememberingAgent): Promise<Memory>;
  /** Forgets entries, and gives the ids of those that it knew and the reader may see. */
  forget(agent: RememberingAgent, ids: readonly string[], reader: Reader): Promise<readonly string[]>;
  /** Closes them; each is opened anew when it is next needed, with what applies then. */
  reopen(): Promise<void>;
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
}

/** Opens each memory when it is first needed: until then it costs neither time nor room. */
export function createMemories(options: MemoriesOptions): Memories {
  const opened = new Map<string, Opened>();

  async function open({ id }: RememberingAgent, folder: string, before: Opened | undefined): Promise<Memory> {
    await closed(before);
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

  async function closeAll(): Promise<void> {
    const memories = [...opened.values()];
    opened.clear();
    await Promise.all(memories.map(closed));
  }

  function of(agent: RememberingAgent): Promise<Memory> {
    const folder = notesFolder(agent);
    const before = opened.get(agent.id);
    if (before?.folder === folder) return before.memory;
    const memory = open(agent, folder, before);
    opened.set(agent.id, { folder, memory });
    // What failed once, a folder that was away for instance, may be there the next time.
    memory.catch(() => {
      if (opened.get(agent.id)?.memory === memory) opened.delete(agent.id);
    });
    return memory;
  }

  return {
    of,
    async forget(agent, ids, reader) {
      const forgotten = await (await of(agent)).forget(ids, { reader });
      if (forgotten.length > 0) await options.onForgotten?.(agent.id);
      return forgotten;
    },
    reopen: closeAll,
    close: closeAll,
  };
}

async function closed(opened: Opened | undefined): Promise<void> {
  await (await opened?.memory.catch(() => undefined))?.close();
}
