import type { ToldEntry } from "./history.ts";

/** Context that a model received with a message of a session. */
export interface MessageContext {
  readonly seq: number;
  readonly text: string;
  /** Earlier messages of the group, oldest first. */
  readonly told: readonly ToldEntry[];
  /** The part that was recalled from memory. Empty without recalled memories, and after they were forgotten. */
  readonly recalled: string;
  /** True if only owners may see the recalled part. */
  readonly forOwner: boolean;
}

/** Stores contexts as long as their messages, so that later requests repeat them unchanged. */
export interface MessageContextStore {
  /** Replaces the contexts of these messages. */
  put(sessionKey: string, contexts: readonly MessageContext[]): Promise<void>;
  /** Returns the contexts of this message and later ones, oldest first. */
  from(sessionKey: string, seq: number): Promise<readonly MessageContext[]>;
  /** Removes the recalled parts from all sessions of an agent. Returns the number of changed contexts. */
  forgetRecalled(agentId: string): Promise<number>;
}
