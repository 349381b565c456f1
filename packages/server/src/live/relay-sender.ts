import type { LiveEvent } from "@signalbox/protocol";
import type { Hints, JsonValue, LiveEventStore } from "@signalbox/store/types";
import type { LiveHub } from "./hub.ts";
import { getEventTopic, type RelayBody, type RelayChange } from "./relay-events.ts";
import { isDelta } from "./session-log.ts";

/** Time for which deltas are joined before they are stored, in milliseconds. */
const JOIN_MS = 200;

/** A watch of another node on a session that runs here. */
interface Target {
  readonly id: string;
  readonly node: string;
  readonly sessionKey: string;
  seq: number;
  /** The last change that is not stored yet. Later events may be merged into it. */
  last: QueuedChange | undefined;
}

interface QueuedChange {
  readonly target: Target;
  readonly seq: number;
  change: RelayChange;
}

export interface RelaySenderOptions {
  readonly node: string;
  readonly hub: LiveHub;
  readonly store: Pick<LiveEventStore, "watches" | "send">;
  readonly hints: Pick<Hints, "send">;
  readonly isHere: (sessionKey: string) => boolean;
  readonly onError: (error: unknown) => void;
}

/** Sends the events of sessions that run on this node to the nodes with their viewers. */
export class RelaySender {
  readonly #options: RelaySenderOptions;
  /** By the id of the watch. */
  readonly #targets = new Map<string, Target>();
  readonly #bySession = new Map<string, Set<Target>>();
  #queue: QueuedChange[] = [];
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Number.POSITIVE_INFINITY;
  #sending: Promise<void> | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: RelaySenderOptions) {
    this.#options = options;
  }

  isWatched(sessionKey: string): boolean {
    return this.#bySession.has(sessionKey);
  }

  /** Reads the watches of other nodes. Those that are new get a snapshot. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => this.#look()).catch(this.#options.onError);
    return this.#looking;
  }

  publish(sessionKey: string, event: LiveEvent): void {
    this.#send(sessionKey, { kind: "event", event });
  }

  retract(sessionKey: string): void {
    this.#send(sessionKey, { kind: "retract" });
  }

  forget(sessionKey: string): void {
    this.#send(sessionKey, { kind: "forget" });
  }

  /** Stores the remaining events. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#dueAt = Number.POSITIVE_INFINITY;
    this.#sending ??= this.#storeQueue().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  async #look(): Promise<void> {
    const { store, node, isHere } = this.#options;
    const watches = await store.watches(node);
    const ids = new Set(watches.map(({ id }) => id));
    for (const target of this.#targets.values())
      if (!ids.has(target.id) || !isHere(target.sessionKey)) this.#remove(target);
    for (const watch of watches)
      if (!this.#targets.has(watch.id) && isHere(watch.sessionKey))
        this.#add({ ...watch, seq: 0, last: undefined });
  }

  #add(target: Target): void {
    const { id, sessionKey } = target;
    this.#targets.set(id, target);
    const others = this.#bySession.get(sessionKey) ?? new Set();
    this.#bySession.set(sessionKey, others.add(target));
    this.#enqueue(target, { kind: "snapshot", events: this.#options.hub.running(sessionKey) });
  }

  #remove(target: Target): void {
    const { id, sessionKey } = target;
    this.#targets.delete(id);
    const others = this.#bySession.get(sessionKey);
    others?.delete(target);
    if (others?.size === 0) this.#bySession.delete(sessionKey);
  }

  #send(sessionKey: string, change: RelayChange): void {
    for (const target of this.#bySession.get(sessionKey) ?? []) this.#enqueue(target, change);
  }

  #enqueue(target: Target, change: RelayChange): void {
    const merged = target.last && merge(target.last.change, change);
    if (target.last !== undefined && merged !== undefined) {
      target.last.change = merged;
      return;
    }
    const queued = { target, seq: target.seq, change };
    target.seq += 1;
    target.last = queued;
    this.#queue.push(queued);
    this.#flushIn(canBeMerged(change) ? JOIN_MS : 0);
  }

  #flushIn(ms: number): void {
    const dueAt = performance.now() + ms;
    if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => void this.flush(), ms);
  }

  async #storeQueue(): Promise<void> {
    const { node: from, store, hints, onError } = this.#options;
    while (this.#queue.length > 0) {
      const queue = this.#queue;
      this.#queue = [];
      for (const { target } of queue) target.last = undefined;
      const targets = new Set(queue.map(({ target }) => target));
      try {
        await store.send(
          queue.map(({ target, seq, change }) => ({ watch: target.id, body: toJson({ from, seq, change }) })),
        );
        for (const node of new Set([...targets].map((target) => target.node)))
          hints.send(getEventTopic(node));
      } catch (error) {
        onError(error);
        // The next look sends a snapshot in place of the lost events.
        for (const target of targets) this.#remove(target);
        this.#queue = this.#queue.filter(({ target }) => !targets.has(target));
      }
    }
  }
}

function canBeMerged(change: RelayChange): boolean {
  return change.kind === "event" && (isDelta(change.event) || change.event.type === "tool.update");
}

/** Joins deltas of one text. Progress of a tool call replaces its earlier progress. */
function merge(before: RelayChange, after: RelayChange): RelayChange | undefined {
  if (before.kind !== "event" || after.kind !== "event") return undefined;
  const [last, event] = [before.event, after.event];
  if (isDelta(last) && isDelta(event) && last.type === event.type && last.runId === event.runId)
    return { kind: "event", event: { ...event, delta: last.delta + event.delta } };
  const isProgress =
    last.type === "tool.update" && event.type === "tool.update" && last.call.id === event.call.id;
  return isProgress ? after : undefined;
}

function toJson(body: RelayBody): JsonValue {
  return JSON.parse(JSON.stringify(body));
}
