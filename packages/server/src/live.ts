import type { LiveEvent } from "@signalbox/protocol";

/** Hands the events of a session to whoever watches it, and remembers the running turn for those who come late. */
export interface LiveHub {
  publish(sessionKey: string, event: LiveEvent): void;
  /** Returns the function that ends the subscription. */
  subscribe(sessionKey: string, listener: (event: LiveEvent) => void): () => void;
  /** Whether anybody sees what is published. */
  watched(sessionKey: string): boolean;
  /** What was written since the last finished step is void; nobody has seen it. */
  retract(sessionKey: string): void;
  /** The events of the turn that is running, deltas joined; empty where nothing runs. */
  running(sessionKey: string): readonly LiveEvent[];
}

export function createLiveHub(onListenerError: (error: unknown) => void): LiveHub {
  const listeners = new Map<string, Set<(event: LiveEvent) => void>>();
  const turns = new Map<string, LiveEvent[]>();

  const remember = (sessionKey: string, event: LiveEvent): void => {
    if (event.type === "run.end") {
      // A command can end while a turn goes on.
      const [start] = turns.get(sessionKey) ?? [];
      if (start?.type === "run.start" && start.runId === event.runId) turns.delete(sessionKey);
    } else if (event.type === "run.start") turns.set(sessionKey, [event]);
    else {
      const turn = turns.get(sessionKey);
      const last = turn?.at(-1);
      if (isDelta(event) && last?.type === event.type) {
        turn?.splice(-1, 1, { ...last, delta: last.delta + event.delta });
      } else turn?.push(event);
    }
  };

  return {
    publish(sessionKey, event) {
      remember(sessionKey, event);
      for (const listener of listeners.get(sessionKey) ?? []) {
        try {
          listener(event);
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
    watched: (sessionKey) => listeners.has(sessionKey),
    retract(sessionKey) {
      const turn = turns.get(sessionKey);
      if (turn) turn.length = turn.findLastIndex((event) => !isDelta(event)) + 1;
    },
    running: (sessionKey) => turns.get(sessionKey) ?? [],
  };
}

function isDelta(event: LiveEvent): event is Extract<LiveEvent, { readonly delta: string }> {
  return event.type === "text.delta" || event.type === "thinking.delta";
}
