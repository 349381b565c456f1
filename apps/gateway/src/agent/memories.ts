import { existsSync } from "node:fs";
import { type BeforeCompaction, reasonOf } from "@signalbox/agent-core";
import type { LoadedConfig } from "@signalbox/config";
import { configuredPath, type Home } from "@signalbox/home";
import {
  consolidateNotes,
  createEmbedder,
  createFlush,
  createMemories,
  createSessionTurns,
  type FlushOptions,
  getNotesFolder,
  type Memories,
  type PayForVectors,
  type SessionLog,
  type SessionTurnsOptions,
} from "@signalbox/memory/agents";
import { isTakenBackNote, readBody } from "@signalbox/prompt";
import { allowsTool, type Role, taintIn } from "@signalbox/tools";
import type { Agent, Agents } from "../configure/agents.ts";
import { brokenProviders } from "../configure/broken-providers.ts";
import type { AgentModel, Models } from "../configure/models.ts";

interface MemoriesLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface AgentMemoriesOptions {
  /** Asked when a memory is opened. */
  readonly loaded: () => Pick<LoadedConfig, "config" | "problems">;
  readonly home: Pick<Home, "dir" | "memoryIndex">;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly store: {
    readonly sessions: SessionLog;
    readonly contexts: { forgetRecalled(agentId: string): Promise<unknown> };
  };
  /** Makes requests for vectors, counted for the agent. Default: they are not counted. */
  readonly payForVectors?: (agentId: string, embeddings: string) => PayForVectors;
  readonly logger: Pick<MemoriesLogger, "warn">;
  /** Conversations of one question, which nobody looks at again. */
  readonly isExcluded: NonNullable<SessionTurnsOptions["isExcluded"]>;
  readonly now: () => number;
}

/** What the agents of a home remember: their notes, and their conversations as the store has them. */
export function createAgentMemories(options: AgentMemoriesOptions): Memories {
  const { loaded, home, env, store, logger, now, payForVectors } = options;
  return createMemories({
    index: home.memoryIndex,
    turns: (agentId) =>
      createSessionTurns({
        sessions: store.sessions,
        agentId,
        taintOf: ({ data }) => taintIn(data),
        isExcluded: options.isExcluded,
        parseMessage: (text) => (isTakenBackNote(text) ? undefined : readBody(text)),
      }),
    embedder(agentId) {
      const { memory, models } = loaded().config;
      return createEmbedder(memory.embeddings, {
        pay: payForVectors?.(agentId, memory.embeddings),
        providers: models.providers,
        disabled: brokenProviders(loaded()),
        env,
        folder: (named) => configuredPath(home, named),
      });
    },
    halfLifeDays: () => loaded().config.memory.halfLifeDays,
    now,
    onForgotten: async (agentId) => void (await store.contexts.forgetRecalled(agentId)),
    onProblem: (agent, problem, error) => logger.warn({ agent, err: reasonOf(error) }, problem),
  });
}

/** A conversation that is about to be compacted, with those who speak in it. */
interface FlushedConversation {
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly sessionKey: string;
  /** The weakest of those who have spoken. */
  readonly role: () => Role;
  /** What others wrote in it. */
  readonly taint: () => readonly string[];
}

/** What notes before a compaction what must outlive it; undefined where the agent may not write memory. */
export type Flush = (conversation: FlushedConversation) => BeforeCompaction | undefined;

type RunFlushOptions = Pick<AgentMemoriesOptions, "logger" | "now"> & Pick<FlushOptions, "access">;

/** Notes what must outlive a compaction, for agents that may write memory. */
export function createRunFlush(
  memories: Memories,
  enabled: () => boolean,
  { access, logger, now }: RunFlushOptions,
): Flush {
  const flush = createFlush({
    memories,
    access,
    now,
    onProblem: (agent, error) =>
      logger.warn({ agent, err: reasonOf(error) }, "notes could not be taken before a compaction"),
  });
  return ({ agent, agentModel, sessionKey, role, taint }) => {
    const { model, stream, demo } = agentModel;
    const mayWrite = allowsTool(agent.tools, "memory_write") && role() !== "guest";
    if (!enabled() || !mayWrite || demo) return undefined;
    return flush({ agent, sessionKey, model, stream, role, taint });
  };
}

export interface ConsolidationOptions {
  readonly memories: Memories;
  /** Asked each time: the configuration may have changed. */
  readonly enabled: () => boolean;
  readonly agents: Pick<Agents, "all">;
  readonly models: Pick<Models, "of">;
  /** A model whose calls count for what an agent does by itself. */
  readonly forUpkeep: (agentModel: AgentModel, agent: Agent) => AgentModel;
  readonly logger: MemoriesLogger;
  readonly now: () => number;
}

/**
 * Draws what lasts from the daily notes of every agent that may write memory. A failure is tried again the next time.
 */
export function createConsolidation(options: ConsolidationOptions): (signal: AbortSignal) => Promise<void> {
  const { memories, enabled, agents, models, forUpkeep, logger, now } = options;
  return async (signal) => {
    if (!enabled()) return;
    for (const agent of agents.all) {
      const agentModel = models.of(agent);
      if (agentModel === undefined || agentModel.demo || !allowsTool(agent.tools, "memory_write")) continue;
      // Most agents have no notes; their memory stays closed.
      if (!existsSync(getNotesFolder(agent))) continue;
      const { model, stream } = forUpkeep(agentModel, agent);
      try {
        const done = await consolidateNotes(memories, { agent, model, stream }, { signal, now });
        if (done.days.length > 0) logger.info({ agent: agent.id, ...done }, "daily notes were consolidated");
      } catch (error) {
        if (signal.aborted) return;
        logger.warn({ agent: agent.id, err: reasonOf(error) }, "daily notes could not be consolidated");
      }
    }
  };
}
