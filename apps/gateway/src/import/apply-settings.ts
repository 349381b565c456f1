import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { reasonOf } from "@signalbox/agent-core";
import { type ConfigEdit, ConfigError, type ConfigPath, editConfig, loadConfig } from "@signalbox/config";
import { ASSUMED_SECRETS, configText, replaceConfig, storeSecret } from "@signalbox/home";
import { parse } from "yaml";
import { createRecords, type Target } from "./apply.ts";
import { sha256 } from "./home-files.ts";
import type { Item } from "./item.ts";
import { asRecord } from "./settings.ts";
import { formatSettingPath, type SettingImport, type SourceHome } from "./source.ts";

export interface SettingsTarget extends Target {
  /** True if secrets are copied. */
  readonly secrets: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A setting with its place in the present configuration. */
interface Placed {
  readonly setting: SettingImport;
  readonly path: ConfigPath;
  readonly value: unknown;
  readonly name: string;
}

type Outcome = Pick<Item, "state" | "why">;

/** Imports the settings, or plans to. They become one version of the configuration. */
export async function applySettings(source: SourceHome, target: SettingsTarget): Promise<readonly Item[]> {
  const settings = source.imports.filter((each) => each.kind === "setting");
  const text = configText(target.home.configFile);
  const present = readPresent(text);
  const outcomes = new Map<SettingImport, Outcome>();
  if (present === undefined || target.home.configFile.endsWith(".json5")) {
    for (const setting of settings)
      outcomes.set(setting, {
        state: "conflict",
        why: `${target.home.configFile} cannot be changed by a program. Correct it, or convert it to YAML.`,
      });
    return toItems(settings, outcomes);
  }
  const records = createRecords(source, target);
  const placed = place(settings, present);
  dropSecrets(settings, target.secrets, outcomes);
  const isForced = target.force.has("config");
  for (const each of placed) {
    if (outcomes.has(each.setting)) continue;
    const earlier = await records.get("setting", each.name);
    const outcome =
      compare(each, getAt(present, each.path), earlier, isForced) ??
      (isForced ? undefined : compareSecret(each.setting, target.home));
    if (outcome !== undefined) outcomes.set(each.setting, outcome);
  }
  // A conflict in a unit keeps the whole unit out.
  const broken = new Set(
    settings.flatMap((each) =>
      each.unit !== undefined && outcomes.get(each)?.state === "conflict" ? [each.unit] : [],
    ),
  );
  for (const each of settings)
    if (each.unit !== undefined && broken.has(each.unit) && !outcomes.has(each))
      outcomes.set(each, { state: "conflict", why: `Something else is configured here (${each.unit}).` });
  let chosen = placed.filter(({ setting }) => !outcomes.has(setting));
  const removed = dropInvalid(chosen, text, target, outcomes);
  chosen = chosen.filter(({ setting }) => !removed.has(setting));
  if (target.apply) {
    for (const { setting } of chosen)
      if (setting.secret !== undefined)
        storeSecret(target.home, nameSecret(setting, setting.secret.name), setting.secret.value);
    if (chosen.length > 0)
      replaceConfig(
        target.home,
        editConfig(target.home.configFile, text, toEdits(chosen)),
        new Date(target.now),
      );
    for (const each of chosen) await records.set("setting", each.name, hashOf(each.value));
  }
  for (const { setting } of chosen)
    outcomes.set(
      setting,
      setting.loss === undefined ? { state: "imported" } : { state: "changed", why: setting.loss },
    );
  return toItems(settings, outcomes);
}

function readPresent(text: string): unknown {
  try {
    return parse(text) ?? {};
  } catch {
    return undefined;
  }
}

/** Resolves the entries of lists that paths name, and returns the values with references to secrets. */
function place(settings: readonly SettingImport[], present: unknown): readonly Placed[] {
  const list = asRecord(asRecord(present)?.["agents"])?.["list"];
  const ids = (Array.isArray(list) ? list : []).map((entry) => asRecord(entry)?.["id"]);
  return settings.map((setting) => {
    const path = setting.path.map((step) => {
      if (typeof step !== "object") return step;
      if (!ids.includes(step.id)) ids.push(step.id);
      return ids.indexOf(step.id);
    });
    const value =
      setting.secret === undefined
        ? setting.value
        : `\${file:secrets/${nameSecret(setting, setting.secret.name)}}`;
    return { setting, path, value, name: formatSettingPath(setting.path) };
  });
}

/** Returns the name of the file of a secret. Two settings never have the same name, and each keeps its name. */
function nameSecret({ path }: SettingImport, name: string): string {
  const readable = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^\.+/, "");
  return `${readable}-${hashOf(path).slice(0, 8)}`;
}

/** Returns a conflict if the file of a secret exists with another content. */
function compareSecret(setting: SettingImport, home: Target["home"]): Outcome | undefined {
  if (setting.secret === undefined) return undefined;
  const name = nameSecret(setting, setting.secret.name);
  const file = join(home.dir, "secrets", name);
  if (!existsSync(file) || readFileSync(file, "utf8").trimEnd() === setting.secret.value.trimEnd())
    return undefined;
  return { state: "conflict", why: `secrets/${name} has another value here.` };
}

/** Leaves out the units whose secrets are not copied or not available. */
function dropSecrets(
  settings: readonly SettingImport[],
  secrets: boolean,
  outcomes: Map<SettingImport, Outcome>,
): void {
  const missing = new Map<string, string>();
  for (const setting of settings) {
    const why =
      setting.unavailable ?? (setting.secret !== undefined && !secrets ? "--secrets copies it." : undefined);
    if (why === undefined) continue;
    outcomes.set(setting, { state: "secret", why });
    if (setting.unit !== undefined) missing.set(setting.unit, why);
  }
  for (const setting of settings) {
    const why = missing.get(setting.unit ?? "");
    if (setting.unit !== undefined && why !== undefined && !outcomes.has(setting))
      outcomes.set(setting, { state: "secret", why: `The ${setting.unit} needs a secret. ${why}` });
  }
}

/** Returns the outcome of a setting that is not written. */
function compare(
  { value, name }: Placed,
  present: unknown,
  earlier: string | undefined,
  isForced: boolean,
): Outcome | undefined {
  if (present === undefined || present === null) {
    return earlier === undefined || isForced
      ? undefined
      : { state: "skipped", why: "It was removed here since the import." };
  }
  if (isDeepStrictEqual(normalize(present), normalize(value)))
    return {
      state: "skipped",
      why: earlier === undefined ? "It is the same here." : "It was imported earlier.",
    };
  return isForced ? undefined : { state: "conflict", why: `${name} has another value here.` };
}

const normalize = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Leaves out settings that cause errors, and returns them. */
function dropInvalid(
  placed: readonly Placed[],
  text: string,
  { home, env }: SettingsTarget,
  outcomes: Map<SettingImport, Outcome>,
): ReadonlySet<SettingImport> {
  const dropped = new Set<SettingImport>();
  const check = (content: string): readonly { readonly path: string; readonly message: string }[] => {
    try {
      return loadConfig({
        file: home.configFile,
        text: content,
        env,
        sources: ASSUMED_SECRETS,
      }).problems.filter(({ severity }) => severity === "error");
    } catch (error) {
      if (error instanceof ConfigError) return error.problems;
      throw error;
    }
  };
  const before = new Set(check(text).map(({ path, message }) => `${path} ${message}`));
  for (let round = 0; round < placed.length; round++) {
    const rest = placed.filter(({ setting }) => !dropped.has(setting));
    if (rest.length === 0) break;
    let faults: readonly { readonly path: string; readonly message: string }[];
    try {
      faults = check(editConfig(home.configFile, text, toEdits(rest)));
    } catch (error) {
      for (const { setting } of rest) {
        dropped.add(setting);
        outcomes.set(setting, { state: "conflict", why: reasonOf(error) });
      }
      break;
    }
    const [fault] = faults.filter(({ path, message }) => !before.has(`${path} ${message}`));
    if (fault === undefined) break;
    const guilty = rest.filter(({ path }) => concerns(fault.path, formatPlace(path)));
    const units = new Set(guilty.flatMap(({ setting }) => setting.unit ?? []));
    const out = rest.filter(
      ({ setting }) => guilty.some((each) => each.setting === setting) || units.has(setting.unit ?? "\0"),
    );
    for (const { setting } of out.length === 0 ? rest : out) {
      dropped.add(setting);
      outcomes.set(setting, { state: "unsupported", why: `${fault.path}: ${fault.message}` });
    }
  }
  return dropped;
}

/** Returns true if a problem at one path concerns the value at another one. */
function concerns(problem: string, place: string): boolean {
  const isWithin = (one: string, other: string): boolean =>
    one === other || one.startsWith(`${other}.`) || one.startsWith(`${other}[`);
  return isWithin(problem, place) || isWithin(place, problem);
}

function formatPlace(path: ConfigPath): string {
  return path
    .map((step, index) =>
      typeof step === "number" ? `[${step}]` : index === 0 ? String(step) : `.${String(step)}`,
    )
    .join("");
}

/** Returns the edits, with the ids of new entries of lists. */
function toEdits(placed: readonly Placed[]): readonly ConfigEdit[] {
  const edits = new Map<string, ConfigEdit>();
  for (const { setting, path } of placed)
    for (const [index, step] of setting.path.entries()) {
      if (typeof step !== "object") continue;
      const at = [...path.slice(0, index + 1), "id"];
      edits.set(formatPlace(at), { path: at, value: step.id });
    }
  for (const { path, value } of placed) edits.set(formatPlace(path), { path, value });
  // An entry of a list can be added only behind the last one.
  return [...edits.values()].toSorted((a, b) => comparePaths(a.path, b.path));
}

function comparePaths(one: ConfigPath, other: ConfigPath): number {
  for (const [index, step] of one.entries()) {
    const there = other[index];
    if (typeof step === "number" && typeof there === "number" && step !== there) return step - there;
    if (step !== there) return 0;
  }
  return 0;
}

function getAt(root: unknown, path: ConfigPath): unknown {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = asRecord(value)?.[String(step)];
  }
  return value;
}

function hashOf(value: unknown): string {
  return sha256(Buffer.from(JSON.stringify(value ?? null)));
}

function toItems(
  settings: readonly SettingImport[],
  outcomes: ReadonlyMap<SettingImport, Outcome>,
): readonly Item[] {
  return settings.flatMap((setting) => {
    const outcome = outcomes.get(setting) ?? { state: "skipped" };
    return setting.ids.map((id) => ({
      part: "config" as const,
      id,
      to: formatSettingPath(setting.path),
      ...outcome,
    }));
  });
}
