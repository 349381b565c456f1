import type { GatewayRecords } from "./performance.ts";

/** Starts the gateway for a scenario. Provided by the program that contains one. */
export interface ReplayHost {
  /** Returns the folder with an agent's files in a home. It may not exist yet. */
  workspace(home: string, agent: string): string;
  /** Starts a gateway on a free port of this machine. */
  start(setup: ReplaySetup): Promise<ReplayedGateway>;
}

/** Gateway settings of a scenario. */
export interface ReplaySetup {
  /** A temporary folder, which is removed afterwards. */
  readonly home: string;
  readonly config: Readonly<Record<string, unknown>>;
  /** URLs and keys of the fake servers. The configuration refers to them as `${ANTHROPIC_URL}` and so on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The scenario's clock, advanced by its waits. */
  readonly clock: ReplayClock;
}

/** Clock and timers. */
export interface ReplayClock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Calls `task` once, after this many milliseconds. */
  after(ms: number, task: () => void): { cancel(): void };
}

/** A gateway on which a scenario is played. */
export interface ReplayedGateway {
  readonly url: string;
  /** An owner's token. */
  readonly token: string;
  /** Errors in the scenario's configuration, one line each. */
  readonly problems: readonly string[];
  /**
   * Amount of pending work: messages in progress, unsent replies, running sub-agents, and due timers that have not
   * fired.
   */
  pending(): Promise<number>;
  stop(): Promise<void>;
  /** Returns the records of everything that happened, in order. Call it after the gateway stopped. */
  records(): Promise<GatewayRecords>;
}
