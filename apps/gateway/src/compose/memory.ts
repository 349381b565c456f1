import type { BeforeCompaction } from "@signalbox/agent-core";
import type { Config } from "@signalbox/config";
import { configuredPath, type Home } from "@signalbox/home";
import {
  createFlush,
  createMemories,
  embedderOf,
  type Memories,
  sessionTurns,
} from "@signalbox/memory/agents";
import { readBody } from "@signalbox/prompt";
import { ONCE } from "@signalbox/server";
import { allowsTool, taintIn } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { PreparedRun } from "../path/5-prepare/prepare.ts";
import { isTakenBackNote } from "../path/5-prepare/user-messages.ts";
import type { GatewayStore } from "../store.ts";

export interface AgentMemoriesOptions {
  readonly config: Pick<Config, "memory" | "models">;
  readonly home: Pick<Home, "dir" | "memoryIndex">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: Pick<GatewayStore, "sessions">;
  readonly logger: Pick<Logger, "warn">;
  readonly now: () => number;
}

/** What the agents of a home remember: their notes, and their conversations as the store has them. */
export function createAgentMemories(options: AgentMemoriesOptions): Memories {
  const { config, home, env, store, logger, now } = options;
  const { embeddings, halfLifeDays } = config.memory;
  return createMemories({
    index: home.memoryIndex,
    turns: (agentId) =>
      sessionTurns({
        ...{ sessions: store.sessions, agentId, taintOf: ({ data }) => taintIn(data) },
        isLeftOut: ({ channel, peer }) => channel === "api" && peer.startsWith(ONCE),
        heard: (text) => (isTakenBackNote(text) ? undefined : readBody(text)),
      }),
    embedder: () =>
      embedderOf(embeddings, {
        ...{ providers: config.models.providers, env },
        folder: (named) => configuredPath(home, named),
      }),
    ...{ halfLifeDays, now },
    onProblem: (agent, problem, error) => logger.warn({ agent, err: messageOf(error) }, problem),
  });
}

/** Notes what must outlive a compaction, for agents that may write memory. */
export function createRunFlush(
  memories: Memories | undefined,
  logger: Pick<Logger, "warn">,
  now: () => number,
): (run: PreparedRun) => BeforeCompaction | undefined {
  if (memories === undefined) return () => undefined;
  const flush = createFlush({
    ...{ memories, now },
    onProblem: (agent, error) =>
      logger.warn({ agent, err: messageOf(error) }, "nothing was noted before a compaction"),
  });
  return ({ agent, agentModel, sessionKey, tools }) => {
    const { model, stream, demo } = agentModel;
    const mayWrite = allowsTool(agent.tools, "memory_write") && tools.role() !== "guest";
    if (!mayWrite || demo) return undefined;
    return flush({ agent, sessionKey, model, stream, role: tools.role, taint: tools.taint });
  };
}
