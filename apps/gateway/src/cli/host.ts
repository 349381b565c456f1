import type { ChannelDefinition } from "@signalbox/channel";
import type { Config, LoadedConfig } from "@signalbox/config";
import type { Env, GatewayToken, Home } from "@signalbox/home";
import type { Vault } from "@signalbox/redaction";
import type { ReplayHost } from "@signalbox/testkit/replay";
import type { Setup } from "../configure/create-setup.ts";
import type { HostPackages } from "../configure/host-packages.ts";

/** The gateway as the command line starts it and looks into it. Heavy parts are loaded on demand. */
export interface GatewayHost {
  readonly version: string;
  /** The file that Node.js runs as `signalbox`. */
  readonly program: string;
  /** The channels that come with it. */
  channels(): Promise<readonly ChannelDefinition[]>;
  /** The skills that come with it. */
  readonly skillsDir: string;
  /** Packages installed with the gateway. */
  readonly packages: HostPackages;
  /** Resolves a configuration as the gateway would. */
  prepare(configured: ConfiguredHome, vault: Vault, logging: Logging): Promise<PreparedGateway>;
  /** On what scenarios are played. */
  replay(): Promise<ReplayHost>;
}

export interface Logging {
  /** The least urgent that is logged; `silent`: nothing. */
  readonly level: string;
  /** In the file of the home alone, and not on standard error as well. */
  readonly isQuiet?: boolean;
}

/** A home with its configuration, read. */
export interface ConfiguredHome {
  readonly home: Home;
  readonly loaded: LoadedConfig;
  readonly env: Env;
}

/** A gateway that could be started. */
export interface PreparedGateway {
  /** Its resolved configuration. */
  readonly setup: Pick<Setup, "problems" | "accounts" | "agents" | "models" | "skills">;
  /** @throws GatewayError */
  start(options: StartOptions): Promise<StartedGateway>;
}

interface StartOptions {
  /** A new one is kept in the home once the gateway runs. */
  readonly token: GatewayToken;
  /** Told when it cannot go on. */
  readonly onFatal: (error: Error) => void;
}

interface StartedGateway {
  /** Base URL of the server. */
  readonly url: string;
  /** Reads the configuration again and applies what it can. The log lists the changes. */
  reload(read: (applied: Config) => Promise<LoadedConfig>): Promise<void>;
  /** Stops it in order. */
  stop(reason: string): Promise<void>;
}
