/**
 * Wakes other processes that share the store. Hints can be lost, so the receiver also polls. They are sent outside of
 * transactions.
 */
export interface Hints {
  /** Reports that there is new work for a topic, for example an agent. Never throws. */
  send(topic: string): void;
  /** Calls `onHint` for each hint, also for those of this process. Returns a function that stops it. */
  listen(onHint: (topic: string) => void): () => void;
}
