import type { Tool } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import type { LoadedConfig } from "@signalbox/config";
import type { DraftTiming } from "@signalbox/delivery";
import type { GatewayToken, Home } from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import type { Vault } from "@signalbox/redaction";
import type { GatewayService } from "@signalbox/server";
import type { Logger } from "@signalbox/telemetry/logger";
import type { StartExecSandbox } from "./configure/exec-sandbox.ts";
import type { ReadConfiguration, Reloaded } from "./configure/reload.ts";
import type { GatewayHook } from "./hooks/hook-points.ts";
import type { Instrument } from "./instrument.ts";

export interface GatewayOptions {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  /** A new one is kept in the home once the gateway runs. */
  readonly token: GatewayToken;
  readonly logger: Logger;
  /** The host has chosen its level, which the configuration then does not change. */
  readonly ownLogLevel?: boolean;
  /** Takes secrets out of whatever is written. */
  readonly vault: Vault;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Channels in addition to the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** Tools in addition to the built-in ones. */
  readonly tools?: readonly Tool[];
  /** The folder of the built console. */
  readonly consoleDir: string;
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number;
  /** Clock for timers. Default: the machine's clock, with `now`. */
  readonly clock?: Clock;
  /** Code of the host's own at the named points. */
  readonly hooks?: readonly GatewayHook[];
  /** Told when the gateway cannot go on: another process took over, or its lease was lost. */
  readonly onFatal: (error: Error) => void;
  /** Wraps the parts of the gateway as they are put together. */
  readonly instrument?: Instrument;
  /** When drafts are opened and changed. */
  readonly drafts?: DraftTiming;
  /** How long the gateway's lease lasts without renewal, in milliseconds. Default: 30,000. */
  readonly leaseMs?: number;
  /** Sandbox for agents' commands, which gateways in one process may share. Default: each tests its own. */
  readonly execSandbox?: StartExecSandbox;
}

/** A running gateway. */
export interface Gateway {
  /** Base URL of the server. */
  readonly url: string;
  /** Whether the offline demo model answers. */
  readonly demo: boolean;
  readonly service: GatewayService;
  /**
   * Resolves when each account has come up or failed for the first time. Those that connect to their platforms by
   * themselves do so once the gateway is ready, unless an earlier process has left something to be answered.
   */
  readonly connected: Promise<void>;
  /**
   * Reads the configuration again and applies it by part; no run is dropped. Rejects if nothing of it can be applied;
   * the old configuration then stays.
   */
  reload(read: ReadConfiguration): Promise<Reloaded>;
  /** Accepts nothing more, lets runs reach a committed step, delivers what is ready, and releases the home. */
  stop(): Promise<void>;
}
