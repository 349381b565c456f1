import { join } from "node:path";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { Memory } from "@signalbox/memory";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Agent } from "../resolve/agents.ts";
import type { GatewayStore } from "../store.ts";
import { embedderOf } from "./embeddings.ts";
import { OWNERS } from "./listeners.ts";
import { sessionTurns } from "./session-turns.ts";

export interface MemoriesOptions {
  readonly config: Pick<Config, "memory" | "models">;
  readonly home: Pick<Home, "dir" | "memoryIndex">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: Pick<GatewayStore, "sessions">;
  readonly logger: Pick<Logger, "warn">;
  readonly now: () => number;
}

/** What each agent remembers; absent altogether where the configuration turns it off. */
export interface Memories {
  of(agent: Pick<Agent, "id" | "workspaceDir">): Promise<Memory>;
  close(): Promise<void>;
}

/** Opens each memory when it is first needed: until then it costs neither time nor room. */
export function createMemories(options: MemoriesOptions): Memories {
  const { config, home, store, logger, now } = options;
  const opened = new Map<string, Promise<Memory>>();

  async function open({ id, workspaceDir }: Pick<Agent, "id" | "workspaceDir">): Promise<Memory> {
    const { createMemory } = await import("@signalbox/memory");
    const embeddings = await embedderOf(config, home, options.env);
    return createMemory({
      folder: join(workspaceDir, "memory"),
      index: home.memoryIndex(id),
      turns: sessionTurns(store, id),
      topScope: OWNERS,
      halfLifeDays: config.memory.halfLifeDays,
      now,
      onProblem: (problem, error) => logger.warn({ agent: id, err: messageOf(error) }, problem),
      ...(embeddings === undefined ? {} : { embeddings }),
    });
  }

  return {
    of(agent) {
      const memory = opened.get(agent.id) ?? open(agent);
      opened.set(agent.id, memory);
      // What failed once, a folder that was away for instance, may be there the next time.
      memory.catch(() => opened.delete(agent.id));
      return memory;
    },
    async close() {
      await Promise.all(
        [...opened.values()].map(async (memory) => (await memory.catch(() => undefined))?.close()),
      );
    },
  };
}
