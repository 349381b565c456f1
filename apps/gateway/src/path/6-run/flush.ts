import type { BeforeCompaction } from "@signalbox/agent-core";
import type { Agent, AgentModel } from "@signalbox/setup";
import type { Role } from "@signalbox/tools";

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
