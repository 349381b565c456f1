import type { ConfigurationEdit } from "@signalbox/client";

export type Path = readonly (string | number)[];

/** Returns a copy of a value in which the value at a path is replaced. `undefined` removes it. */
export function setAt(target: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (typeof step === "number") {
    const list: unknown[] = Array.isArray(target) ? [...target] : [];
    const next = setAt(list[step], rest, value);
    if (next === undefined) list.splice(step, 1);
    else list[step] = next;
    return list;
  }
  const entries = new Map(isRecord(target) ? Object.entries(target) : []);
  const next = setAt(entries.get(step), rest, value);
  if (next === undefined) entries.delete(step);
  else entries.set(step, next);
  return Object.fromEntries(entries);
}

/** Returns the changes of single values that turn one configuration into another. */
export function findEdits(before: unknown, after: unknown, path: Path = []): ConfigurationEdit[] {
  if (isRecord(before) && isRecord(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => findEdits(before[name], after[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => findEdits(item, after[index], [...path, index]));
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path: [...path], ...(after === undefined ? {} : { value: after }) }];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
