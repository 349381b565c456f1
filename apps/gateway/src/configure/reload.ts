import { reasonOf } from "@signalbox/agent-core";
import { type Config, ConfigError, formatProblem, type LoadedConfig, type Problem } from "@signalbox/config";
import type { ConfigurationState } from "@signalbox/protocol";
import type { Vault } from "@signalbox/redaction";
import type { Setup } from "./create-setup.ts";
import type { Applied, LiveConfig } from "./live-config.ts";
import { changedSections, keysForStart, type NextSetup, nextSetup } from "./next-setup.ts";

/**
 * Reads the configuration. Receives the configuration in effect, so that invalid sections that are required for a start
 * keep their values.
 */
export type ReadConfiguration = (applied: Config) => LoadedConfig | Promise<LoadedConfig>;

/** The outcome of a reload, by section. */
export interface Reloaded {
  readonly applied: readonly string[];
  /** Changed keys that take effect on the next start. */
  readonly forStart: readonly string[];
  /** Sections left unchanged because they contain an error, or because a section that changes with them does. */
  readonly kept: readonly string[];
  /** Accounts that were restarted or stopped. */
  readonly accounts: readonly string[];
}

export interface ReloadingPorts<Resolved extends Setup> {
  readonly live: LiveConfig;
  /** Resolves a configuration. */
  readonly resolve: (loaded: LoadedConfig) => Promise<Resolved>;
  /** Creates the files that agents need. If this fails, the previous configuration stays in effect. */
  readonly prepare: (resolved: Resolved) => Promise<void>;
  /** Applies the change to services that have state. Returns the accounts that changed. */
  readonly tell: (before: Applied<Resolved>, next: Applied<Resolved>) => Promise<readonly string[]>;
  /** Records the configuration that is now in effect. */
  readonly record: (config: Config, file: string) => Promise<void>;
  readonly vault: Vault;
  readonly logger: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/** Reloads the configuration of a running host section by section. Only one reload runs at a time. */
export class Reloading<Resolved extends Setup> {
  readonly #ports: ReloadingPorts<Resolved>;
  readonly #started: Config;
  #applied: Applied<Resolved>;
  #state: ConfigurationState;
  #last: Promise<unknown> = Promise.resolve();

  /** @param first the configuration with which the host was started */
  constructor(first: Applied<Resolved>, ports: ReloadingPorts<Resolved>) {
    this.#ports = ports;
    this.#started = first.loaded.config;
    this.#applied = first;
    this.#state = { forStart: [], kept: [], errors: getErrors(first.resolved.problems) };
  }

  /** Settings that are not in effect. */
  get state(): ConfigurationState {
    return this.#state;
  }

  reload(read: ReadConfiguration): Promise<Reloaded> {
    const reloaded = this.#last.then(() => this.#applyAndTell(read));
    this.#last = reloaded.catch(() => undefined);
    return reloaded;
  }

  async #applyAndTell(read: ReadConfiguration): Promise<Reloaded> {
    const { logger } = this.#ports;
    try {
      const reloaded = await this.#apply(read);
      logger.info({ ...reloaded }, "the configuration was reloaded");
      return reloaded;
    } catch (error) {
      const errors = error instanceof ConfigError ? getErrors(error.problems) : [];
      this.#state = { ...this.#state, kept: [this.#applied.loaded.file], errors };
      logger.error(
        { err: reasonOf(error) },
        "the configuration cannot be applied; the previous one stays in effect",
      );
      throw error;
    }
  }

  async #apply(read: ReadConfiguration): Promise<Reloaded> {
    const { live, vault, resolve, prepare, tell, record, logger } = this.#ports;
    const before = this.#applied;
    const loaded = await read(before.loaded.config);
    vault.add(loaded.secrets);
    const outcome = await nextSetup(before, loaded, resolve);
    const { next, kept } = outcome;
    for (const problem of outcome.problems)
      logger.warn({ problem: formatProblem(problem) }, "the configuration has a problem");
    await prepare(next.resolved);
    live.apply(next);
    this.#applied = next;
    const accounts = (await this.#tried("applied to every service", () => tell(before, next))) ?? [];
    await this.#tried("recorded", () => record(next.loaded.config, next.loaded.file));
    const forStart = keysForStart(this.#started, next.loaded.config);
    this.#state = { forStart, kept: [...kept], errors: getErrors(outcome.found) };
    this.#warnOfRest(outcome, forStart);
    return { applied: changedSections(before.loaded.config, next.loaded.config), forStart, accounts, kept };
  }

  /** Runs a follow-up step after a new configuration is in effect. A failure is logged and does not revert anything. */
  async #tried<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      this.#ports.logger.error(
        { err: reasonOf(error) },
        `the new configuration is in effect, but could not be ${what}`,
      );
      return undefined;
    }
  }

  /** Warns about the settings that are not in effect yet. */
  #warnOfRest({ faulty, kept }: NextSetup<Resolved>, forStart: readonly string[]): void {
    const { logger } = this.#ports;
    if (forStart.length > 0)
      logger.warn({ keys: forStart }, "changed in the configuration, but takes effect only after a restart");
    if (kept.length > 0)
      logger.warn(
        { faulty, kept },
        "the configuration has errors; these sections stay as they were, including all that control access",
      );
  }
}

function getErrors(problems: readonly Problem[]): ConfigurationState["errors"] {
  return problems
    .filter(({ severity }) => severity === "error")
    .map(({ path, message, remedy }) => ({ path, message, remedy }));
}
