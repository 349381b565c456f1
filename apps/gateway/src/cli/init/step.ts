import type { ConfigEdit, LoadedConfig } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import type { Asker } from "./asker.ts";
import type { SavedAnswers } from "./saved-answers.ts";

/** Options of `signalbox init`. Every answer can be given as an option. */
export interface InitOptions extends CommonOptions {
  readonly provider?: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly model?: string;
  readonly agent?: string;
  readonly workspace?: string;
  /** Language of the initial files in a new workspace. */
  readonly language?: string;
  readonly channel?: string;
  readonly account?: string;
  /** Channel settings by name. */
  readonly set?: Readonly<Record<string, string>>;
  readonly owner?: string;
  /** True installs the service, false does not. If undefined, asks at a terminal. */
  readonly service?: boolean;
  /** If false, the key and the channel are not tested. */
  readonly check?: boolean;
  /** If true, uses defaults and asks no questions. */
  readonly yes?: boolean;
  /** If true, continues an interrupted setup without asking. */
  readonly resume?: boolean;
}

/** Dependencies of every step. */
export interface Step {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly asker: Asker;
  /** Returns the packages that are not installed. */
  missingPackages(names: readonly string[]): readonly string[];
  /** Answers of an interrupted setup. */
  readonly progress: SavedAnswers;
  /**
   * Writes answers to the configuration. The file is valid after every call, even if the command is interrupted.
   *
   * @param what the changed part, for messages
   */
  change(what: string, edits: readonly ConfigEdit[]): void;
  /** Reports a saved setting that does not work. The command then exits with an error. */
  failed(message: string): void;
  /** Returns the current configuration. */
  loaded(): LoadedConfig;
}
