import { existsSync } from "node:fs";
import { type BeforeCompaction, reasonOf } from "@signalbox/agent-core";
import { configuredPath } from "@signalbox/home";
import {
  consolidateNotes,
  createEmbedder,
  createFlush,
  createMemories,
  createSessionTurns,
  type FlushOptions,
  getNotesFolder,
  type Memories,
  parseTurnId,
  type SessionLog,
} from "@signalbox/memory/agents";
import { isDeletedNote, readBody } from "@signalbox/prompt";
import { isOneOff } from "@signalbox/server";
import type { MaintenanceStore } from "@signalbox/store";
import { allowsTool, type Role, readSessionTaint } from "@signalbox/tools";
import type { Agent } from "../configure/agents.ts";
import { brokenProviders } from "../configure/broken-providers.ts";
import type { CurrentConfig } from "../configure/live-config.ts";
import type { AgentModel } from "../configure/models.ts";
import { getShardIndex, parseShardId } from "../configure/shards.ts";
import type { CoreContext } from "../core-context.ts";
import type { Spending } from "./spending.ts";
import type { SpendingReports } from "./spending-reports.ts";
import { createVectorCosts } from "./vector-costs.ts";

/** The members of the context that memories use. Commands create them without a running gateway. */
export interface MemoriesContext extends Pick<CoreContext, "home" | "env" | "logger" | "now"> {
  readonly config: { current(): Pick<CurrentConfig, "loaded" | "settings"> };
  readonly store: {
    readonly sessions: SessionLog;
    readonly contexts: { forgetRecalled(agentId: string): Promise<unknown> };
    readonly maintenance: Pick<MaintenanceStore, "erase">;
  };
}

/**
 * Creates the memories of all agents in a home. A memory contains an agent's notes and its stored conversations.
 *
 * @param reports counts the cost of embeddings. Omitted if no budget applies.
 * @param onErased called with the sessions in which forgotten words were erased
 */
export function createAgentMemories(
  core: MemoriesContext,
  reports?: SpendingReports,
  onErased: (sessionKeys: readonly string[]) => void = () => {},
): Memories {
  const { home, env, config, store, logger, now } = core;
  const payForVectors = reports && createVectorCosts(() => config.current().settings, reports);
  return createMemories({
    index: home.memoryIndex,
    turns(shardId) {
      const { agentId, index } = parseShardId(shardId);
      const { agents } = config.current().loaded.config;
      const { shards = 1 } = agents.list.find(({ id }) => id === agentId) ?? {};
      return createSessionTurns({
        sessions: store.sessions,
        agentId,
        taintOf: ({ data }) => readSessionTaint(data),
        isExcluded: (session) =>
          isOneOff(session) || (index !== undefined && getShardIndex(session.key, shards) !== index),
        parseMessage: (text) => (isDeletedNote(text) ? undefined : readBody(text)),
      });
    },
    embedder(agentId) {
      const { loaded, settings } = config.current();
      const { memory, models } = settings;
      return createEmbedder(memory.embeddings, {
        pay: payForVectors?.(agentId, memory.embeddings),
        providers: models.providers,
        disabled: brokenProviders(loaded),
        env,
        folder: (named) => configuredPath(home, named),
      });
    },
    halfLifeDays: () => config.current().settings.memory.halfLifeDays,
    now,
    async onForget(agentId, entries, sessionKey) {
      const messages = entries.flatMap(({ id }) => parseTurnId(id) ?? []);
      const sessions = new Set([sessionKey, ...entries.flatMap(({ chat }) => chat ?? [])]);
      await store.contexts.forgetRecalled(agentId);
      await store.maintenance.erase({
        sessions: [...sessions],
        messages,
        texts: entries.map(({ text }) => text),
      });
      onErased([...sessions]);
    },
    onProblem: (agent, problem, error) => logger.warn({ agent, err: reasonOf(error) }, problem),
  });
}

/** A conversation before its compaction. */
interface FlushedConversation {
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly sessionKey: string;
  /** Returns the role with the fewest rights among all speakers. */
  readonly role: () => Role;
  /** Returns the taint sources of the conversation. */
  readonly taint: () => readonly string[];
}

/** Saves notes before a compaction. Undefined if the agent may not write to its memory. */
export type Flush = (conversation: FlushedConversation) => BeforeCompaction | undefined;

/** Creates the function that saves notes before a compaction, for agents that may write to their memory. */
export function createRunFlush(
  { config, logger, now }: CoreContext,
  memories: Memories,
  access: FlushOptions["access"],
): Flush {
  const flush = createFlush({
    memories,
    access,
    now,
    onProblem: (agent, error) =>
      logger.warn({ agent, err: reasonOf(error) }, "notes could not be saved before a compaction"),
  });
  return ({ agent, agentModel, sessionKey, role, taint }) => {
    const { model, stream, demo } = agentModel;
    const mayWrite = allowsTool(agent.tools, "memory_write") && role() !== "guest";
    if (!config.current().settings.memory.enabled || !mayWrite || demo) return undefined;
    return flush({ agent, sessionKey, model, stream, role, taint });
  };
}

/**
 * Extracts lasting notes from the daily notes of every agent that may write to its memory. A failed extraction is
 * retried the next time.
 */
export function createConsolidation(
  { config, logger, now, seats }: CoreContext,
  memories: Memories,
  spending: Spending,
): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    const { settings, agents, models } = config.current();
    if (!settings.memory.enabled || !settings.memory.consolidate) return;
    for (const agent of agents.shards) {
      const agentModel = models.of(agent);
      // The notes are in the agent's workspace.
      if (!seats.holds(agent.shardId)) continue;
      if (agentModel === undefined || agentModel.demo || !allowsTool(agent.tools, "memory_write")) continue;
      // Most agents have no notes, so their memory is not opened.
      if (!existsSync(getNotesFolder(agent))) continue;
      const { model, stream } = spending.forMaintenance(agentModel, agent);
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
