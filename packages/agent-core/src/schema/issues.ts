import type { JsonObject, JsonValue } from "../json.ts";

/** One thing that is wrong with a value. `path` is a JSON pointer, empty for the value itself. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** Adds what is wrong with `value` to `issues`. */
export type Check = (value: unknown, path: string, issues: SchemaIssue[]) => void;

/** More than a model can use at once; also bounds the work on hostile input. */
export const MAX_ISSUES = 12;

export function add(issues: SchemaIssue[], path: string, message: string): void {
  if (issues.length < MAX_ISSUES) issues.push({ path, message });
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Key order does not make values different. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    isJsonObject(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  );
}

export function number(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function strings(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((entry: JsonValue) => typeof entry === "string");
}
