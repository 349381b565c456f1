import type { ToldEntry } from "./history.ts";

/** What a model was told together with a message of a session, before its words. */
export interface MessageContext {
  readonly seq: number;
  readonly text: string;
  /** What was said in the group before, oldest first. */
  readonly told: readonly ToldEntry[];
  /** What came from memory; empty if nothing did, or once it was forgotten. */
  readonly recalled: string;
  /** Whether what came from memory is for owners alone. */
  readonly forOwner: boolean;
}

/** Kept as long as the messages are, so that the model is told the same about them in each later request. */
export interface MessageContextStore {
  /** Replaces what is there for these messages. */
  put(sessionKey: string, contexts: readonly MessageContext[]): Promise<void>;
  /** Those of messages that have one, from this message on, oldest first. */
  from(sessionKey: string, seq: number): Promise<readonly MessageContext[]>;
  /** Removes what came from memory from all sessions of an agent; returns the number of messages. */
  forgetRecalled(agentId: string): Promise<number>;
}
