import type { Hints, LiveEventStore } from "@signalbox/store/types";
import type { LiveHub } from "./hub.ts";
import { getEventTopic, WATCH_TOPIC } from "./relay-events.ts";
import { RelayReceiver, type SessionStates } from "./relay-receiver.ts";
import { RelaySender } from "./relay-sender.ts";

/** Interval at which a node with viewers looks for events that no hint reported, in milliseconds. */
const POLL_MS = 500;
const PRUNE_MS = 60_000;

export interface LiveRelayOptions {
  /** Id of this node. */
  readonly node: string;
  /** The hub of this node. */
  readonly hub: LiveHub;
  readonly store: LiveEventStore;
  readonly hints: Hints;
  /** Returns true if the agent of a session runs on this node. */
  readonly isHere: (sessionKey: string) => boolean;
  readonly states: SessionStates;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Shows runs to viewers on other nodes. A node with viewers stores a watch, and the node that runs the agent stores its
 * events until the other node reads them. Hints wake both; without hints, they poll.
 */
export interface LiveRelay {
  /** The hub with the viewers of all nodes. */
  readonly hub: LiveHub;
  /** Reads the watches of other nodes. Call this periodically, and before a run starts. */
  look(): Promise<void>;
  /** Waits until other nodes can see the viewers of a session. */
  announced(sessionKey: string): Promise<void>;
  /** Returns true if a session that runs on another node is busy, as far as its viewers know. */
  isBusy(sessionKey: string): boolean;
  start(): void;
  stop(): Promise<void>;
}

export function createLiveRelay(options: LiveRelayOptions): LiveRelay {
  const { node, hub, store, hints, isHere, onError, now } = options;
  const sender = new RelaySender(options);
  const receiver = new RelayReceiver(options);
  let timer: NodeJS.Timeout | undefined;
  let stopListening = (): void => {};
  let polling: Promise<void> | undefined;
  let prunedAt = now();

  async function poll(): Promise<void> {
    await receiver.receive();
    await receiver.maintain();
    if (now() - prunedAt < PRUNE_MS) return;
    prunedAt = now();
    await store.prune();
  }

  return {
    hub: {
      ...hub,
      publish(sessionKey, event) {
        hub.publish(sessionKey, event);
        sender.publish(sessionKey, event);
      },
      subscribe(sessionKey, listener) {
        receiver.enter(sessionKey);
        const unsubscribe = hub.subscribe(sessionKey, listener);
        let isOpen = true;
        return () => {
          unsubscribe();
          if (isOpen) receiver.leave(sessionKey);
          isOpen = false;
        };
      },
      watched: (sessionKey) => hub.watched(sessionKey) || sender.isWatched(sessionKey),
      retract(sessionKey) {
        hub.retract(sessionKey);
        sender.retract(sessionKey);
      },
      resume(sessionKey, after) {
        receiver.resumed(sessionKey);
        return hub.resume(sessionKey, after);
      },
      join: (sessionKey) => receiver.join(sessionKey),
      forget(sessionKey) {
        hub.forget(sessionKey);
        sender.forget(sessionKey);
      },
    },
    look: () => sender.look(),
    announced: (sessionKey) => receiver.announced(sessionKey),
    isBusy: (sessionKey) => !isHere(sessionKey) && receiver.isBusy(sessionKey),
    start() {
      timer = setInterval(() => {
        polling ??= poll()
          .catch(onError)
          .finally(() => {
            polling = undefined;
          });
      }, POLL_MS).unref();
      stopListening = hints.listen((topic) => {
        if (topic === WATCH_TOPIC) void sender.look();
        if (topic === getEventTopic(node)) receiver.receive().catch(onError);
      });
    },
    async stop() {
      clearInterval(timer);
      stopListening();
      await polling;
      await sender.flush();
      await receiver.stop();
    },
  };
}
