import type { GatewayRecords } from "./performance.ts";

/** Brings up the gateway that a scenario is played on; the program that has one gives it. */
export interface ReplayHost {
  /** The folder of an agent's files in a home; it need not exist yet. */
  workspace(home: string, agent: string): string;
  /** Starts a gateway that listens on a free port of this machine. */
  start(setup: ReplaySetup): Promise<ReplayedGateway>;
}

/** What the gateway of a scenario is started with. */
export interface ReplaySetup {
  /** A folder of its own, which is removed afterwards. */
  readonly home: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** Addresses and keys of the stand-ins, which the configuration names as `${ANTHROPIC_URL}` and the like. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The time of the scenario, which its waits turn on. */
  readonly clock: ReplayClock;
}

/** Time, for what comes by itself. */
export interface ReplayClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls `task` once, after so many milliseconds. */
  after(ms: number, task: () => void): { cancel(): void };
}

/** A gateway while a scenario is played on it. */
export interface ReplayedGateway {
  readonly url: string;
  /** Whoever holds it owns the gateway. */
  readonly token: string;
  /** What is wrong with the scenario's configuration, one line each. */
  readonly problems: readonly string[];
  /**
   * How much is still to come: messages without an end, replies that are not out, sub-agents at work, and whatever
   * should have come by itself by now.
   */
  pending(): Promise<number>;
  stop(): Promise<void>;
  /** What it kept of all that happened, in the order it happened. To be called once it has stopped. */
  records(): Promise<GatewayRecords>;
}
