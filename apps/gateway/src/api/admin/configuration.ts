import { existsSync, rmSync } from "node:fs";
import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { reasonOf } from "@signalbox/agent-core";
import {
  ConfigError,
  configJsonSchema,
  type LoadedConfig,
  maskSecrets,
  type Problem,
  restoreSecrets,
} from "@signalbox/config";
import {
  configText,
  configVersions,
  editedText,
  type Home,
  loadConfigText,
  locateHome,
  replaceConfig,
} from "@signalbox/home";
import type {
  ConfigurationChange,
  ConfigurationProblem,
  ConfigurationState,
  ConfigurationVersion,
  ConfigurationWrite,
} from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import { compareTexts } from "@signalbox/tools";
import { KEYS_FOR_START, keysForStart } from "../../configure/next-setup.ts";
import type { ReadConfiguration, Reloaded } from "../../configure/reload.ts";
import { type ResolvedConfig, resolveConfig } from "../../configure/resolve-config.ts";
import type { GatewayContext } from "../../context.ts";
import { findChangedKeys } from "./changed-keys.ts";
import { getRevision, listVersions, parseText } from "./configuration-versions.ts";
import { findNewPrograms } from "./configured-programs.ts";

/** Reloads the configuration, and knows which settings are not in effect. */
export interface ConfigurationReload {
  readonly state: () => ConfigurationState;
  readonly reload: (read: ReadConfiguration) => Promise<Reloaded>;
}

type ConfigurationAdmin = Pick<
  AdminService,
  | "configuration"
  | "configurationSchema"
  | "checkConfiguration"
  | "writeConfiguration"
  | "configurationHistory"
  | "configurationVersion"
  | "rollbackConfiguration"
>;

/** The configuration file at one time. */
interface CurrentFile {
  readonly home: Home;
  readonly text: string;
  readonly revision: string;
  readonly exists: boolean;
}

/** A new text that the gateway could start with. */
interface Candidate {
  readonly loaded: LoadedConfig;
  readonly resolved: ResolvedConfig;
  /** Errors that the configuration in effect does not have. */
  readonly errors: readonly Problem[];
}

/** Reads and changes the configuration file through the API. Changes are made one after the other. */
export function createConfigurationAdmin(
  ctx: GatewayContext,
  { state, reload }: ConfigurationReload,
): ConfigurationAdmin {
  const { options, env, redact, audit, now } = ctx;
  let last: Promise<unknown> = Promise.resolve();

  /** Secrets that are in effect, which are masked wherever they occur. */
  const known = (): readonly string[] => ctx.config.current().loaded.secrets;

  const mask = (home: Home, text: string, secrets: readonly string[] = []): string =>
    maskSecrets(home.configFile, text, [...known(), ...secrets]).text;

  const load = async (home: Home, text: string, runsPrograms: boolean): Promise<Candidate> => {
    const loaded = await loadConfigText(home, env, text, { runsPrograms });
    options.vault.add(loaded.secrets);
    const resolved = await resolveConfig({ ...options, home, loaded });
    const before = state().errors;
    const isKnown = ({ path, message }: Problem): boolean =>
      before.some((error) => error.path === path && error.message === message);
    const errors = resolved.problems.filter((problem) => problem.severity === "error" && !isKnown(problem));
    return { loaded, resolved, errors };
  };

  const write = async (file: CurrentFile, text: string, actor: string): Promise<ConfigurationWrite> => {
    const { home } = file;
    const { loaded, resolved, errors } = await refuseErrors(() => load(home, text, true));
    if (errors.length > 0) throw createInvalid(errors);
    // The programs that provide secrets may have taken long.
    assertCurrent(readFile(ctx), file.revision);
    replaceConfig(home, text, new Date(now()));
    const { applied, forStart, kept, accounts } = await reload(() => loaded).catch((error: unknown) => {
      undo(file, now());
      throw createInvalid([], `The change could not be applied and was undone: ${redact(reasonOf(error))}`);
    });
    const revision = readFile(ctx).revision;
    const programs = findNewPrograms(parseText(file.text), parseText(text)).map(redact).join(", ");
    audit.configurationWritten({ revision, sections: applied.join(", "), programs }, home.configFile, actor);
    return {
      revision,
      applied: [...applied],
      forStart: [...forStart],
      kept: [...kept],
      accounts: [...accounts],
      problems: resolved.problems.map(toProblem),
    };
  };

  /** Runs a change after the changes before it. */
  const inOrder = <T>(change: () => Promise<T>): Promise<T> => {
    const result = last.then(change);
    last = result.catch(() => undefined);
    return result;
  };

  return {
    async configuration() {
      const file = readFile(ctx);
      const about = {
        file: file.home.configFile,
        revision: file.revision,
        state: redactState(state(), redact),
        keysForStart: [...KEYS_FOR_START],
      };
      const none = { ...about, editable: false, text: "", values: {}, problems: [] };
      const reason = findReadOnlyReason(ctx, file.home);
      if (reason !== undefined) return { ...none, reason };
      try {
        const text = mask(file.home, file.text);
        const problems = await findProblems(() => load(file.home, file.text, false));
        return { ...about, editable: true, text, values: parseText(text), problems: problems.map(toProblem) };
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return { ...none, reason: redact(error.message), problems: error.problems.map(toProblem) };
      }
    },
    async configurationSchema() {
      return configJsonSchema(ctx.accounts.definitions);
    },
    async checkConfiguration(change) {
      const file = openFile(ctx, change.revision);
      const text = await refuseErrors(async () => getNewText(ctx, file, change, known()));
      const before = mask(file.home, file.text);
      const [was, is] = [parseText(file.text), parseText(text)];
      const found = await load(file.home, text, false).catch((error: unknown) => {
        if (error instanceof ConfigError) return error.problems;
        throw error;
      });
      const isUsable = "loaded" in found;
      const problems = isUsable ? found.resolved.problems : found;
      const errors = isUsable ? found.errors : found;
      const after = await refuseErrors(async () =>
        mask(file.home, text, isUsable ? found.loaded.secrets : []),
      );
      const changed = getChangedSections(was, is);
      return {
        text: after,
        diff: await getDiff(file.home, before, after),
        problems: problems.map(toProblem),
        errors: errors.map(toProblem),
        changed,
        keys: findChangedKeys(was, is).map(redact),
        forStart: isUsable ? getKeysForStart(options.loaded, found.loaded, changed) : [],
        programs: findNewPrograms(was, is).map(redact),
      };
    },
    writeConfiguration: (change, actor) =>
      inOrder(async () => {
        const file = openFile(ctx, change.revision);
        const text = await refuseErrors(async () => getNewText(ctx, file, change, known()));
        return write(file, text, actor);
      }),
    async configurationHistory() {
      const versions = await listVersions(ctx, readFile(ctx));
      return { versions: versions.map((version) => ({ ...version, keys: version.keys.map(redact) })) };
    },
    async configurationVersion(id) {
      const { home, text: current } = readFile(ctx);
      const { text } = findVersion(home, id);
      return refuseErrors(async () => {
        const masked = mask(home, text);
        const diff = await getDiff(home, mask(home, current), masked);
        return { id, text: masked, diff, ...(await describeRollback(ctx, home, current, text)) };
      });
    },
    rollbackConfiguration: ({ id, revision }, actor) =>
      inOrder(async () => {
        const file = openFile(ctx, revision);
        return write(file, findVersion(file.home, id).text, actor);
      }),
  };
}

function readFile({ options, env }: GatewayContext): CurrentFile {
  const home = locateHome(options.home.dir, env);
  const text = configText(home.configFile);
  return { home, text, revision: getRevision(home, text), exists: existsSync(home.configFile) };
}

/** @throws ApiError if the file cannot be edited, or has another revision */
function openFile(ctx: GatewayContext, revision: string): CurrentFile {
  const file = readFile(ctx);
  const reason = findReadOnlyReason(ctx, file.home);
  if (reason !== undefined) throw new ApiError("conflict", reason);
  assertCurrent(file, revision);
  return file;
}

function assertCurrent(file: CurrentFile, revision: string): void {
  if (file.revision === revision) return;
  throw new ApiError("conflict", "The configuration has been changed in the meantime.", {
    remedy: "Load it again, and repeat your change.",
  });
}

function findReadOnlyReason({ options }: GatewayContext, home: Home): string | undefined {
  if (options.readsConfigFile !== true)
    return "The program that contains this gateway provides its configuration.";
  if (home.otherConfigFiles.length > 0)
    return `There are several configuration files: ${[home.configFile, ...home.otherConfigFiles].join(", ")}. Keep one.`;
  if (home.configFile.endsWith(".json5"))
    return "The configuration is JSON5, whose comments would be lost. Edit it by hand, or convert it to YAML.";
  return undefined;
}

/** @throws ConfigError */
function getNewText(
  { env }: GatewayContext,
  { home, text }: CurrentFile,
  change: ConfigurationChange,
  known: readonly string[],
): string {
  if ((change.text === undefined) === (change.edits === undefined))
    throw new ApiError("bad_request", "Send either `text` or `edits`.");
  const edits = (change.edits ?? []).map(({ path, value }) => ({ path, value }));
  const changed = change.text ?? editedText(home, env, edits);
  return restoreSecrets(home.configFile, changed, text, known);
}

function findVersion(home: Home, id: string): { readonly text: string } {
  const version = configVersions(home).find((each) => each.id === id);
  if (version === undefined) throw new ApiError("not_found", `There is no version ${id}.`);
  return { text: configText(version.file) };
}

/** Restores the file after a change that could not be applied. */
function undo({ home, text, exists }: CurrentFile, now: number): void {
  if (exists) replaceConfig(home, text, new Date(now));
  else rmSync(home.configFile, { force: true });
}

/** Converts the errors of a change to an error of the API. */
async function refuseErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ConfigError ? createInvalid(error.problems) : error;
  }
}

function createInvalid(problems: readonly Problem[], message?: string): ApiError {
  const [first] = problems;
  const place = first === undefined || first.path === "" ? "" : `${first.path}: `;
  const told = message ?? `Not changed: ${place}${first?.message ?? "the configuration has errors"}.`;
  return new ApiError("invalid", told, {
    remedy: first?.remedy,
    details: problems.map((problem) => ({
      path: problem.path,
      line: problem.line,
      message: problem.message,
      remedy: problem.remedy,
    })),
  });
}

async function findProblems(work: () => Promise<Candidate>): Promise<readonly Problem[]> {
  try {
    return (await work()).resolved.problems;
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function toProblem({ severity, path, line, message, remedy, disables }: Problem): ConfigurationProblem {
  return { severity, path, line, message, remedy, disables };
}

function redactState(state: ConfigurationState, redact: (text: string) => string): ConfigurationState {
  return { ...state, errors: state.errors.map((error) => ({ ...error, message: redact(error.message) })) };
}

/** Describes the consequences of a rollback. Loads no packages and runs no programs. @throws ConfigError */
async function describeRollback(
  { options, env, redact }: GatewayContext,
  home: Home,
  current: string,
  text: string,
): Promise<Pick<ConfigurationVersion, "keys" | "forStart" | "programs">> {
  const [is, was] = [parseText(current), parseText(text)];
  const loaded = await loadConfigText(home, env, text, { runsPrograms: false });
  return {
    keys: findChangedKeys(is, was).map(redact),
    forStart: getKeysForStart(options.loaded, loaded, getChangedSections(is, was)),
    programs: findNewPrograms(is, was).map(redact),
  };
}

function getChangedSections(before: unknown, after: unknown): string[] {
  const [was, is] = [toEntries(before), toEntries(after)];
  const names = [...new Set([...was.keys(), ...is.keys()])];
  return names.filter((name) => !isDeepStrictEqual(was.get(name), is.get(name)));
}

function toEntries(value: unknown): ReadonlyMap<string, unknown> {
  return new Map(value !== null && typeof value === "object" ? Object.entries(value) : []);
}

/** A check runs no programs for secrets, so only sections whose text changed are compared. */
function getKeysForStart(started: LoadedConfig, next: LoadedConfig, changed: readonly string[]): string[] {
  return keysForStart(started.config, next.config).filter((key) =>
    changed.includes(key.split(".", 1)[0] ?? ""),
  );
}

async function getDiff({ configFile }: Home, before: string, after: string): Promise<string> {
  if (before === after) return "";
  const name = basename(configFile);
  return compareTexts({ oldName: name, newName: name, before, after }, { role: "owner" });
}
