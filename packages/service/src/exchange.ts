import type { ChatMessage, RunEnd } from "@signalbox/protocol";

/**
 * What people and the gateway said to each other that is no part of the conversation as the model knows it: a command and
 * its answer, a message that got no run, a word about the end of a run. It is kept for those who look back.
 */
export interface Exchange {
  readonly messages: readonly ChatMessage[];
  /** Absent where it is a word about a run, which has its end elsewhere. */
  readonly end?: RunEnd;
}

/** The exchanges of each session, as whoever had them has kept them. */
export interface KeptExchanges {
  list(sessionKey: string): Promise<readonly Exchange[]>;
  remove(sessionKey: string): Promise<void>;
}
