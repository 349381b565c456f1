import type { Tool } from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import type { LoadedConfig } from "@signalbox/config";
import type { DraftTiming } from "@signalbox/delivery";
import type { GatewayToken, Home } from "@signalbox/home";
import type { Clock } from "@signalbox/lanes";
import type { HealthFinding } from "@signalbox/protocol";
import type { Vault } from "@signalbox/redaction";
import type { GatewayService } from "@signalbox/server";
import type { Logger } from "@signalbox/telemetry/logger";
import type { WebProxyOptions } from "@signalbox/tools";
import type { StartExecSandbox } from "./configure/exec-sandbox.ts";
import type { ReadConfiguration, Reloaded } from "./configure/reload.ts";
import type { GatewayHook } from "./hooks/hook-points.ts";
import type { Instrument } from "./instrument.ts";

export interface GatewayOptions {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  /** The gateway's token. A new token is stored in the home after the start. */
  readonly token: GatewayToken;
  readonly logger: Logger;
  /** True if the gateway reads its configuration from the file of its home, so that the API may change the file. */
  readonly readsConfigFile?: boolean;
  /** Checks the machine, the configuration file and the stored data of the home. Default: no checks. */
  readonly checkHome?: () => Promise<readonly HealthFinding[]>;
  /** True if the host sets the log level. The configuration then does not change it. */
  readonly ownLogLevel?: boolean;
  /** Redacts secrets in all output. */
  readonly vault: Vault;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Channels in addition to the built-in ones. */
  readonly channels?: readonly ChannelDefinition[];
  /** Tools in addition to the built-in ones. */
  readonly tools?: readonly Tool[];
  /** The folder of the built console. */
  readonly consoleDir: string;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Clock for timers. Default: the machine's clock, with `now`. */
  readonly clock?: Clock;
  /** Hooks of the host program. */
  readonly hooks?: readonly GatewayHook[];
  /** Called if the gateway cannot continue: another process took over, or its lease was lost. */
  readonly onFatal: (error: Error) => void;
  /** Wraps functions of the gateway, for tests and benchmarks. */
  readonly instrument?: Instrument;
  /** Intervals for opening and updating drafts. */
  readonly drafts?: DraftTiming;
  /**
   * Duration of the gateway's lease without renewal, in milliseconds. Default: 5,000 if other gateways share the store,
   * and 30,000 otherwise.
   */
  readonly leaseMs?: number;
  /** Sandbox for agents' commands. Gateways in the same process may share it. Default: each gateway tests its own. */
  readonly execSandbox?: StartExecSandbox;
  /**
   * Hosts that agents' browsers may reach although they are not public. Only for tests: no setting, environment
   * variable or option of the command line changes it. Default: none.
   */
  readonly browserEgress?: Pick<WebProxyOptions, "allow" | "resolve">;
}

/** A running gateway. */
export interface Gateway {
  /** Base URL of the server. */
  readonly url: string;
  /** True if the offline demo model answers. */
  readonly demo: boolean;
  readonly service: GatewayService;
  /**
   * Resolves when each account has connected or failed for the first time. Accounts that open connections themselves
   * start after the gateway is ready, unless an earlier process left unfinished work.
   */
  readonly connected: Promise<void>;
  /**
   * Reloads the configuration section by section. Runs continue. Rejects if no section can be applied. The previous
   * configuration then stays in effect.
   */
  reload(read: ReadConfiguration): Promise<Reloaded>;
  /** Stops accepting messages, lets runs reach a committed step, delivers ready replies, and releases the home. */
  stop(): Promise<void>;
}
