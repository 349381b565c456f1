import type { ConfigEdit, LoadedConfig } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import type { Asker } from "./asker.ts";

/** Every answer can be given as an option. */
export interface InitOptions extends CommonOptions {
  readonly provider?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly agent?: string;
  readonly workspace?: string;
  /** Of the first files of a workspace. */
  readonly language?: string;
  readonly channel?: string;
  readonly account?: string;
  /** Settings of the channel by name. */
  readonly set?: Readonly<Record<string, string>>;
  readonly owner?: string;
  /** Whether to install the service. Undefined: ask at a terminal. */
  readonly service?: boolean;
  /** False: neither a key nor a channel is tried. */
  readonly check?: boolean;
  /** Use defaults and ask nothing. */
  readonly yes?: boolean;
}

/** Dependencies of every step. */
export interface Step {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly asker: Asker;
  /** Returns the packages that are not installed. */
  missingPackages(names: readonly string[]): readonly string[];
  /** Writes the answers down, whole: whenever the command is interrupted, the configuration is one that can be. */
  change(edits: readonly ConfigEdit[]): void;
  /** Reports a saved setting that does not work. The command then exits with an error. */
  failed(message: string): void;
  /** The configuration as it is now. */
  loaded(): LoadedConfig;
}
