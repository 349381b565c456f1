import type { ToldEntry } from "./history.ts";

/** Context that a model received with a session message. */
export interface MessageContext {
  readonly seq: number;
  readonly text: string;
  /** Earlier messages of the group, oldest first. */
  readonly told: readonly ToldEntry[];
  /** The text that was recalled from memory. Empty if nothing was recalled or the recalled text was removed. */
  readonly recalled: string;
  /** True if only owners may see the recalled text. */
  readonly forOwner: boolean;
}

/** Stores contexts for as long as their messages, so that later requests repeat them unchanged. */
export interface MessageContextStore {
  /** Replaces the contexts of these messages. */
  put(sessionKey: string, contexts: readonly MessageContext[]): Promise<void>;
  /** Returns the contexts of this message and all later ones, oldest first. */
  from(sessionKey: string, seq: number): Promise<readonly MessageContext[]>;
  /** Removes the recalled text from all sessions of an agent. Returns the number of changed contexts. */
  forgetRecalled(agentId: string): Promise<number>;
}
