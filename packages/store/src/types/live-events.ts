import type { JsonValue } from "./common.ts";

/** A viewer's interest in a session whose agent may run on another node. */
export interface LiveWatch {
  /** Unique id, so that a watch that begins again is a different one. */
  readonly id: string;
  /** The node with the viewer. */
  readonly node: string;
  readonly sessionKey: string;
}

/** An event for the node of a watch. */
export interface LiveEventRow {
  /** Id of the watch. */
  readonly watch: string;
  readonly body: JsonValue;
}

/**
 * Passes the events of runs to the nodes of their viewers. Everything here is short-lived and can be lost: a crash of
 * the database removes it.
 */
export interface LiveEventStore {
  /** Stores the watches of a node, or extends them. They end after `ttlMs`. */
  watch(watches: readonly LiveWatch[], ttlMs: number): Promise<void>;
  /** Ends watches and removes their events. */
  unwatch(ids: readonly string[]): Promise<void>;
  /** Lists the watches of other nodes. */
  watches(node: string): Promise<readonly LiveWatch[]>;
  /** Stores events, in order. Events for watches that have ended are dropped. */
  send(events: readonly LiveEventRow[]): Promise<void>;
  /** Removes the events for the watches of a node and returns them, in the order in which they were sent. */
  receive(node: string): Promise<readonly LiveEventRow[]>;
  /** Removes watches that have expired, and their events. */
  prune(): Promise<void>;
}
