import type { Item, ItemState, Part } from "./item.ts";
import type { SettingImport } from "./source.ts";

/** A path in a configuration of another system. */
export type SourcePath = readonly (string | number)[];

/**
 * Reads the configuration of another system, and records for each of its values what became of it. Values that nothing
 * read are reported as unsupported.
 */
export interface SettingsReader {
  get(...path: SourcePath): unknown;
  text(...path: SourcePath): string | undefined;
  number(...path: SourcePath): number | undefined;
  texts(...path: SourcePath): readonly string[];
  /** Returns the keys of a section, or an empty list if the section does not exist. */
  keys(...path: SourcePath): readonly string[];
  has(...path: SourcePath): boolean;
  /** Imports the values below `from` as one setting. With an empty `from`, the setting comes from no value. */
  map(
    from: SourcePath | readonly SourcePath[],
    to: SettingImport["path"],
    value: unknown,
    more?: Pick<SettingImport, "loss" | "secret" | "unit" | "unavailable">,
  ): void;
  /** Records a result for all values below a path that have none yet. */
  note(from: SourcePath, state: ItemState, why?: string): void;
  /** Returns the settings and the items of all other values. */
  finish(): { readonly imports: readonly SettingImport[]; readonly items: readonly Item[] };
}

export function createSettingsReader(root: unknown, part: Part = "config"): SettingsReader {
  const pending = new Map<string, SourcePath>();
  for (const path of listLeaves(root)) pending.set(formatSourcePath(path), path);
  const imports: SettingImport[] = [];
  const items: Item[] = [];

  const take = (from: SourcePath): string[] => {
    const taken = [...pending]
      .filter(([, path]) => from.every((step, index) => path[index] === step))
      .map(([id]) => id);
    for (const id of taken) pending.delete(id);
    return taken;
  };
  const get = (...path: SourcePath): unknown => getAt(root, path);
  return {
    get,
    text: (...path) => asText(get(...path)),
    number(...path) {
      const value = get(...path);
      return typeof value === "number" && Number.isFinite(value) ? value : undefined;
    },
    texts: (...path) => asTexts(get(...path)),
    keys: (...path) => Object.keys(asRecord(get(...path)) ?? {}),
    has: (...path) => get(...path) !== undefined,
    map(from, to, value, more = {}) {
      const paths = isPaths(from) ? from : from.length === 0 ? [] : [from];
      imports.push({ kind: "setting", ids: paths.flatMap(take), path: to, value, ...more });
    },
    note(from, state, why) {
      for (const id of take(from)) items.push({ part, id, state, why });
    },
    finish() {
      for (const id of pending.keys())
        items.push({ part, id, state: "unsupported", why: "Signalbox has no such setting." });
      pending.clear();
      return { imports, items };
    },
  };
}

function isPaths(from: SourcePath | readonly SourcePath[]): from is readonly SourcePath[] {
  return from.length > 0 && from.every((each) => Array.isArray(each));
}

/** Maximum depth of a configuration. */
const MAX_DEPTH = 64;

function* listLeaves(value: unknown, path: SourcePath = []): Generator<SourcePath> {
  if (path.length > MAX_DEPTH) throw new Error(`The configuration has more than ${MAX_DEPTH} levels.`);
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(asRecord(value) ?? {});
  if (entries.length === 0) {
    if (path.length > 0) yield path;
    return;
  }
  for (const [key, child] of entries) yield* listLeaves(child, [...path, key]);
}

function getAt(root: unknown, path: SourcePath): unknown {
  let value = root;
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)];
    else {
      const record = asRecord(value);
      value = record !== undefined && Object.hasOwn(record, step) ? record[step] : undefined;
    }
  }
  return value;
}

/** Formats a path such as `channels.telegram.accounts.ops.botToken` or `bindings[0].match`. */
function formatSourcePath(path: SourcePath): string {
  return path
    .map((step, index) => {
      if (typeof step === "number") return `[${step}]`;
      if (!/^[\w-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return index === 0 ? step : `.${step}`;
    })
    .join("");
}

/** Returns the value if it is an object and not a list. */
export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

/** Returns a text that is not empty, also for a number, since ids are written both ways. */
export function asText(value: unknown): string | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function asTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap((each) => asText(each) ?? []) : [];
}
