import { randomBytes } from "node:crypto";
import type { LiveEvent } from "@signalbox/protocol";
import { type ResumeResult, SessionLog } from "./session-log.ts";

/** Sessions whose viewers can resume. The least recently used is evicted. */
const MAX_LOGS = 200;

/** @param cursor the position after the event, for `resume` */
export type LiveListener = (event: LiveEvent, cursor: string) => void;

/** Sends the events of a session to its viewers and buffers them for viewers that join late or reconnect. */
export interface LiveHub {
  publish(sessionKey: string, event: LiveEvent): void;
  /** Returns a function that ends the subscription. */
  subscribe(sessionKey: string, listener: LiveListener): () => void;
  /** Calls `listener` with the events of all sessions. Returns a function that ends the subscription. */
  observe(listener: (event: LiveEvent, sessionKey: string) => void): () => void;
  /** Returns true if a session has subscribers. */
  watched(sessionKey: string): boolean;
  /** Discards the text since the last finished message of the current run. */
  retract(sessionKey: string): void;
  /** Returns the events of the current run with deltas joined, or none. */
  running(sessionKey: string): readonly LiveEvent[];
  /**
   * Returns the first events for a viewer: those after its cursor, or those of the current run if there is no cursor or
   * the buffer no longer reaches back to it. The hub then keeps the session's events so that the viewer can reconnect.
   */
  resume(sessionKey: string, after?: string): ResumeResult;
  /**
   * Waits for the events of the current run if the session has subscribers here and its agent runs on another node.
   * Returns undefined for every other session.
   */
  join(sessionKey: string): Promise<void> | undefined;
  /**
   * Keeps the events of a run that an earlier process began, even after the run has ended, because its viewers may
   * reconnect at any time. Call this before the run starts.
   */
  keepResumed(sessionKey: string, runId: string): void;
  /** Discards the events of a deleted session. */
  forget(sessionKey: string): void;
}

/**
 * @param onListenerError called with errors that listeners throw
 * @param newId creates the part of a cursor that identifies a log
 */
export function createLiveHub(
  onListenerError: (error: unknown) => void,
  newId: () => string = () => randomBytes(6).toString("hex"),
): LiveHub {
  const listeners = new Map<string, Set<LiveListener>>();
  const observers = new Set<(event: LiveEvent, sessionKey: string) => void>();
  const logs = new Map<string, SessionLog>();
  /** Sessions whose cursors have been given to viewers. */
  const resumable = new Set<string>();

  const attempt = (call: () => void): void => {
    try {
      call();
    } catch (error) {
      onListenerError(error);
    }
  };
  /** Returns the log of a session and marks it as most recently used. */
  const getLog = (sessionKey: string): SessionLog => {
    const log = logs.get(sessionKey) ?? new SessionLog(newId);
    logs.delete(sessionKey);
    logs.set(sessionKey, log);
    return log;
  };
  const forget = (sessionKey: string): void => {
    logs.delete(sessionKey);
    resumable.delete(sessionKey);
  };
  const evictOldest = (): void => {
    if (resumable.size <= MAX_LOGS) return;
    const oldest = [...logs].find(([sessionKey, log]) => resumable.has(sessionKey) && !log.isRunning);
    if (oldest !== undefined) forget(oldest[0]);
  };

  const makeResumable = (sessionKey: string): SessionLog => {
    const log = getLog(sessionKey);
    resumable.add(sessionKey);
    evictOldest();
    return log;
  };

  return {
    publish(sessionKey, event) {
      const log = getLog(sessionKey);
      const cursor = log.add(event);
      if (!log.isRunning && !resumable.has(sessionKey)) forget(sessionKey);
      for (const listener of [...(listeners.get(sessionKey) ?? [])]) attempt(() => listener(event, cursor));
      for (const observer of [...observers]) attempt(() => observer(event, sessionKey));
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
    resume: (sessionKey, after) => makeResumable(sessionKey).resume(after),
    keepResumed: (sessionKey, runId) => makeResumable(sessionKey).keepResumed(runId),
    forget,
    join: () => undefined,
  };
}
