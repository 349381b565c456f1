import type { AgentMessage } from "@signalbox/agent-core";
import type { Bodies, RunStore, SessionMessage, SessionStore } from "@signalbox/store/types";

/** The bodies of a store that this package reads and writes. */
export interface RunBodies extends Bodies {
  readonly message: AgentMessage;
}

/** The store methods for the journals of runs. */
export type JournalStore = Pick<
  RunStore<RunBodies>,
  "step" | "toolStarted" | "toolResults" | "wait" | "inspect"
>;

/** The store methods for the conversations that runs continue. */
export type ConversationStore = Pick<SessionStore<RunBodies>, "history" | "compact">;

/** A message of a conversation and its sequence number. */
export type PlacedMessage = Pick<SessionMessage<RunBodies>, "seq" | "message">;
