import { randomBytes } from "node:crypto";
import type { LiveEvent } from "@signalbox/protocol";
import { type Resumed, SessionLog } from "./session-log.ts";

/** Sessions whose viewers may come back to what they missed; beyond it the one used longest ago is forgotten. */
const MAX_LOGS = 200;

/** @param cursor the place behind the event, for `resume` */
export type LiveListener = (event: LiveEvent, cursor: string) => void;

/** Passes the events of a session to its viewers, and remembers them for those who come late or come back. */
export interface LiveHub {
  publish(sessionKey: string, event: LiveEvent): void;
  /** Returns the function that ends the subscription. */
  subscribe(sessionKey: string, listener: LiveListener): () => void;
  /** Calls `listener` with each event of any session. Returns the function that ends that. */
  observe(listener: (event: LiveEvent) => void): () => void;
  /** Whether anyone sees what is published. */
  watched(sessionKey: string): boolean;
  /** What was written since the last finished step is void; no one has seen it. */
  retract(sessionKey: string): void;
  /** The events of the turn that is running, deltas joined; empty where nothing runs. */
  running(sessionKey: string): readonly LiveEvent[];
  /**
   * What a viewer is shown first: what came after its cursor; without one, or if too much came since, the current turn.
   * From then on the session's events are remembered for a while, so that the viewer can come back.
   */
  resume(sessionKey: string, after?: string): Resumed;
  /** The session was removed: its events are no longer shown to anyone. */
  forget(sessionKey: string): void;
}

/** @param newId for tests: makes what tells one memory of a session from another */
export function createLiveHub(
  onListenerError: (error: unknown) => void,
  newId: () => string = () => randomBytes(6).toString("hex"),
): LiveHub {
  const listeners = new Map<string, Set<LiveListener>>();
  const observers = new Set<(event: LiveEvent) => void>();
  const logs = new Map<string, SessionLog>();
  /** Sessions of which somebody holds a cursor. */
  const resumable = new Set<string>();

  /** The log of a session, as the one used last. */
  const logOf = (sessionKey: string): SessionLog => {
    const log = logs.get(sessionKey) ?? new SessionLog(newId);
    logs.delete(sessionKey);
    logs.set(sessionKey, log);
    return log;
  };
  const forget = (sessionKey: string): void => {
    logs.delete(sessionKey);
    resumable.delete(sessionKey);
  };
  const forgetOldest = (): void => {
    if (resumable.size <= MAX_LOGS) return;
    const oldest = [...logs].find(([sessionKey, log]) => resumable.has(sessionKey) && !log.isRunning);
    if (oldest !== undefined) forget(oldest[0]);
  };

  return {
    publish(sessionKey, event) {
      const log = logOf(sessionKey);
      const cursor = log.add(event);
      if (!log.isRunning && !resumable.has(sessionKey)) forget(sessionKey);
      for (const listener of [...(listeners.get(sessionKey) ?? []), ...observers]) {
        try {
          listener(event, cursor);
        } catch (error) {
          onListenerError(error);
        }
      }
    },
    subscribe(sessionKey, listener) {
      const set = listeners.get(sessionKey) ?? new Set();
      listeners.set(sessionKey, set.add(listener));
      return () => {
        set.delete(listener);
        if (set.size === 0 && listeners.get(sessionKey) === set) listeners.delete(sessionKey);
      };
    },
    observe(listener) {
      observers.add(listener);
      return () => void observers.delete(listener);
    },
    watched: (sessionKey) => listeners.has(sessionKey),
    retract: (sessionKey) => logs.get(sessionKey)?.retract(),
    running: (sessionKey) => (logs.get(sessionKey)?.running() ?? []).map(({ event }) => event),
    resume(sessionKey, after) {
      const log = logOf(sessionKey);
      resumable.add(sessionKey);
      forgetOldest();
      return log.resume(after);
    },
    forget,
  };
}
