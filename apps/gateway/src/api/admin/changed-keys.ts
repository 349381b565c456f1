import { isDeepStrictEqual } from "node:util";
import { type ConfigPath, formatPath } from "@signalbox/config";

/**
 * Returns the keys whose values differ, such as `agents.list[0].name`. A list whose length changes is one key, and so
 * is a section that exists only in one of the two values.
 */
export function findChangedKeys(before: unknown, after: unknown, path: ConfigPath = []): string[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (isSection(before) && isSection(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => findChangedKeys(before[name], after[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length)
    return before.flatMap((item, index) => findChangedKeys(item, after[index], [...path, index]));
  return [formatPath(path)];
}

function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
