import { randomUUID } from "node:crypto";
import type { LiveEvent } from "@signalbox/protocol";
import type { Hints, LiveEventRow, LiveEventStore } from "@signalbox/store/types";
import type { LiveHub } from "./hub.ts";
import { type RelayBody, type RelayChange, relayBodySchema, WATCH_TOPIC } from "./relay-events.ts";

/** Time after which a watch ends unless it is extended, in milliseconds. */
const WATCH_MS = 15_000;
const EXTEND_MS = 5_000;
/** Time for which a session is watched after its last viewer has left, because the viewer may reconnect. */
const LINGER_MS = 30_000;
/** Time limit for the first events of a watch, in milliseconds. No node may run the agent. */
const JOIN_LIMIT_MS = 2_000;

/** Sessions as the store has them. */
export interface SessionStates {
  /** Returns true if a session has a current run or messages that are waiting for one. */
  isBusy(sessionKey: string): Promise<boolean>;
  /** Returns the end of a run, unless it continues. */
  getEnd(sessionKey: string, runId: string): Promise<LiveEvent | undefined>;
}

export interface RelayReceiverOptions {
  readonly node: string;
  readonly hub: LiveHub;
  readonly store: Pick<LiveEventStore, "watch" | "unwatch" | "receive">;
  readonly hints: Pick<Hints, "send">;
  readonly isHere: (sessionKey: string) => boolean;
  readonly states: SessionStates;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

interface Watch {
  readonly sessionKey: string;
  /** Changes if events were lost. The new watch then gets a snapshot. */
  id: string;
  /** Resolves when the watch is in the store. Never rejects. */
  announced: Promise<void>;
  extendedAt: number;
  /** Resolves with the first events. */
  readonly joined: PromiseWithResolvers<void>;
  /** The node whose events follow its snapshot. */
  from: string | undefined;
  /** Number of the next event. */
  seq: number;
  isBusy: boolean;
  /** True if a viewer may reconnect with a cursor. */
  isResumable: boolean;
  leftAt: number | undefined;
}

/** Shows the events of sessions that run on other nodes to the viewers on this node. */
export class RelayReceiver {
  readonly #options: RelayReceiverOptions;
  readonly #watches = new Map<string, Watch>();
  /** Number of viewers of each session, including those that run here. */
  readonly #viewers = new Map<string, number>();
  #receiving: Promise<void> | undefined;
  #isRequested = false;

  constructor(options: RelayReceiverOptions) {
    this.#options = options;
  }

  enter(sessionKey: string): void {
    const viewers = this.#viewers.get(sessionKey) ?? 0;
    this.#viewers.set(sessionKey, viewers + 1);
    this.#ensure(sessionKey, viewers === 0);
  }

  leave(sessionKey: string): void {
    const viewers = (this.#viewers.get(sessionKey) ?? 0) - 1;
    if (viewers > 0) {
      this.#viewers.set(sessionKey, viewers);
      return;
    }
    this.#viewers.delete(sessionKey);
    const watch = this.#watches.get(sessionKey);
    if (watch === undefined) return;
    if (watch.isResumable) watch.leftAt = this.#options.now();
    else this.#end([watch]);
  }

  resumed(sessionKey: string): void {
    const watch = this.#watches.get(sessionKey);
    if (watch !== undefined) watch.isResumable = true;
  }

  isBusy(sessionKey: string): boolean {
    return this.#watches.get(sessionKey)?.isBusy === true;
  }

  /** Waits until other nodes can see the watch of a session, if there is one. */
  async announced(sessionKey: string): Promise<void> {
    await this.#watches.get(sessionKey)?.announced;
  }

  /** Waits for the first events of a session that runs on another node. */
  join(sessionKey: string): Promise<void> | undefined {
    const watch = this.#watches.get(sessionKey);
    if (watch === undefined || this.#options.isHere(sessionKey)) return undefined;
    return this.#join(watch);
  }

  async #join(watch: Watch): Promise<void> {
    const { states, onError } = this.#options;
    const limit = Promise.withResolvers<void>();
    const timer = setTimeout(limit.resolve, JOIN_LIMIT_MS);
    await Promise.race([watch.joined.promise, limit.promise]);
    clearTimeout(timer);
    try {
      watch.isBusy = await states.isBusy(watch.sessionKey);
    } catch (error) {
      onError(error);
    }
  }

  /** Follows agents that move, extends watches, and ends those without viewers. */
  async maintain(): Promise<void> {
    const { isHere, now, store } = this.#options;
    for (const sessionKey of this.#viewers.keys()) this.#ensure(sessionKey, false);
    const watches = [...this.#watches.values()];
    this.#end(
      watches.filter(
        ({ sessionKey, leftAt }) =>
          isHere(sessionKey) || (leftAt !== undefined && now() - leftAt >= LINGER_MS),
      ),
    );
    const due = [...this.#watches.values()].filter(({ extendedAt }) => now() - extendedAt >= EXTEND_MS);
    if (due.length === 0) return;
    const at = now();
    await store.watch(due.map(this.#toRow), WATCH_MS);
    for (const watch of due) watch.extendedAt = at;
  }

  /** Applies the events that other nodes have sent. */
  receive(): Promise<void> {
    if (this.#watches.size === 0) return Promise.resolve();
    this.#isRequested = true;
    this.#receiving ??= this.#receiveAll().finally(() => {
      this.#receiving = undefined;
    });
    return this.#receiving;
  }

  async stop(): Promise<void> {
    const ids = [...this.#watches.values()].map(({ id }) => id);
    this.#watches.clear();
    await this.#receiving;
    await this.#options.store.unwatch(ids);
  }

  readonly #toRow = ({ id, sessionKey }: Watch) => ({ id, sessionKey, node: this.#options.node });

  async #receiveAll(): Promise<void> {
    while (this.#isRequested) {
      this.#isRequested = false;
      for (const row of await this.#options.store.receive(this.#options.node)) await this.#apply(row);
    }
  }

  /** @param isNew true if no viewer has seen the events that the hub may still have */
  #ensure(sessionKey: string, isNew: boolean): void {
    const { isHere, hub } = this.#options;
    if (isHere(sessionKey)) return;
    const existing = this.#watches.get(sessionKey);
    if (existing !== undefined) {
      existing.leftAt = undefined;
      return;
    }
    if (isNew) hub.forget(sessionKey);
    const watch: Watch = {
      sessionKey,
      ...newState(),
      announced: Promise.resolve(),
      extendedAt: 0,
      joined: Promise.withResolvers(),
      isBusy: false,
      isResumable: false,
      leftAt: undefined,
    };
    this.#watches.set(sessionKey, watch);
    watch.announced = this.#announce(watch);
  }

  async #announce(watch: Watch): Promise<void> {
    const { store, hints, onError, now } = this.#options;
    const at = now();
    try {
      await store.watch([this.#toRow(watch)], WATCH_MS);
      watch.extendedAt = at;
      hints.send(WATCH_TOPIC);
      // The last viewer may have left in the meantime.
      if (this.#watches.get(watch.sessionKey) !== watch) await store.unwatch([watch.id]);
    } catch (error) {
      onError(error);
    }
  }

  #end(watches: readonly Watch[]): void {
    if (watches.length === 0) return;
    const { hub, isHere, store, onError } = this.#options;
    for (const { sessionKey } of watches) {
      this.#watches.delete(sessionKey);
      if (!isHere(sessionKey)) hub.forget(sessionKey);
    }
    store.unwatch(watches.map(({ id }) => id)).catch(onError);
  }

  async #apply({ watch: id, body }: LiveEventRow): Promise<void> {
    const watch = [...this.#watches.values()].find((each) => each.id === id);
    const { data } = relayBodySchema.safeParse(body);
    if (watch === undefined || data === undefined || this.#options.isHere(watch.sessionKey)) return;
    const { from, seq, change } = data;
    if (change.kind === "snapshot") {
      await this.#endUnseen(watch, change.events);
      watch.from = from;
      watch.seq = seq;
    } else if (from !== watch.from) return;
    if (seq !== watch.seq) {
      this.#restart(watch);
      return;
    }
    watch.seq += 1;
    this.#show(watch, change);
    watch.joined.resolve();
  }

  #show(watch: Watch, change: RelayChange): void {
    const { hub } = this.#options;
    const { sessionKey } = watch;
    if (change.kind === "retract") hub.retract(sessionKey);
    else if (change.kind === "forget") hub.forget(sessionKey);
    else
      for (const event of change.kind === "event" ? [change.event] : change.events) {
        if (event.type === "run.start") watch.isBusy = true;
        if (event.type === "run.end") watch.isBusy = false;
        hub.publish(sessionKey, event);
      }
  }

  /** Shows the end of a run of which viewers saw only the beginning. */
  async #endUnseen({ sessionKey }: Watch, events: RelaySnapshot): Promise<void> {
    const { hub, states, onError } = this.#options;
    const shown = getRunId(hub.running(sessionKey));
    if (shown === undefined || shown === getRunId(events)) return;
    const end = await states.getEnd(sessionKey, shown).catch(onError);
    if (end) hub.publish(sessionKey, end);
  }

  /** Requests a new snapshot, because events were lost. */
  #restart(watch: Watch): void {
    const { store, onError } = this.#options;
    store.unwatch([watch.id]).catch(onError);
    Object.assign(watch, newState());
    watch.announced = this.#announce(watch);
  }
}

type RelaySnapshot = Extract<RelayBody["change"], { kind: "snapshot" }>["events"];

function newState(): Pick<Watch, "id" | "from" | "seq"> {
  return { id: randomUUID(), from: undefined, seq: 0 };
}

function getRunId(events: RelaySnapshot): string | undefined {
  return events.find((event) => event.type === "run.start")?.runId;
}
