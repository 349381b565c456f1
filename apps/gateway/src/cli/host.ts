import type { ChannelDefinition } from "@signalbox/channel";
import type { Config, LoadedConfig } from "@signalbox/config";
import type { Env, GatewayToken, Home } from "@signalbox/home";
import type { Vault } from "@signalbox/redaction";
import type { ReplayHost } from "@signalbox/testkit/replay";
import type { Setup } from "../configure/create-setup.ts";
import type { HostPackages } from "../configure/host-packages.ts";

/** The gateway's interface for the command line. Large modules are loaded on demand. */
export interface GatewayHost {
  readonly version: string;
  /** The file that Node.js runs as `signalbox`. */
  readonly program: string;
  /** The built-in channels. */
  channels(): Promise<readonly ChannelDefinition[]>;
  /** Folder of the bundled skills. */
  readonly skillsDir: string;
  /** Packages installed with the gateway. */
  readonly packages: HostPackages;
  /** Resolves a configuration in the same way as the gateway. */
  prepare(configured: ConfiguredHome, vault: Vault, logging: Logging): Promise<PreparedGateway>;
  /** Returns the host that replays scenarios. */
  replay(): Promise<ReplayHost>;
}

export interface Logging {
  /** Minimum level of log entries. `silent` logs nothing. */
  readonly level: string;
  /** Log only to the home's file, and not to standard error. */
  readonly isQuiet?: boolean;
}

/** A home with its loaded configuration. */
export interface ConfiguredHome {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly env: Env;
}

/** A gateway that could be started. */
export interface PreparedGateway {
  /** Its resolved configuration. */
  readonly setup: Setup;
  /** @throws GatewayError */
  start(options: StartOptions): Promise<StartedGateway>;
}

interface StartOptions {
  /** A new token is stored in the home after the gateway has started. */
  readonly token: GatewayToken;
  /** Called if the gateway cannot continue. */
  readonly onFatal: (error: Error) => void;
}

interface StartedGateway {
  /** Base URL of the server. */
  readonly url: string;
  /** Rereads the configuration and applies as much of it as possible. The log lists the changes. */
  reload(read: (applied: Config) => Promise<LoadedConfig>): Promise<void>;
  /** Stops the gateway in an orderly way. */
  stop(reason: string): Promise<void>;
}
