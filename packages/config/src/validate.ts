import type { z } from "zod";
import type { Replacement } from "./fail-closed.ts";
import { describeIssue } from "./issue-messages.ts";
import type { ConfigPath } from "./problem.ts";
import { getKeysAt } from "./schema-keys.ts";
import { isConfidential } from "./secret-places.ts";
import { didYouMean } from "./suggest.ts";

/** An issue of a part of the configuration. */
interface ConfigIssue {
  readonly kind: "invalid" | "unknown_key";
  readonly path: ConfigPath;
  readonly message: string;
  readonly remedy: string;
  /** Mapping that got its most restrictive value because of an unknown key. */
  readonly restricts?: ConfigPath;
}

export interface ValidationResult<T> {
  /** `undefined` if the part is invalid. Unknown keys are removed. */
  readonly value: T | undefined;
  readonly issues: readonly ConfigIssue[];
}

/** Returns replacements for what is wrong in a part. Paths are relative to the part. */
export interface Replacements {
  /** Returns a replacement for an invalid value. Without this function, an invalid value makes the part invalid. */
  readonly invalid?: (path: ConfigPath) => Replacement | undefined;
  /** Returns a replacement for the mapping with an unknown key. The key is then an error. */
  readonly unknownKey?: (path: ConfigPath) => Replacement | undefined;
}

/**
 * Validates a part against its schema. Unknown keys are reported and removed. An invalid value makes the part invalid,
 * unless `replace` replaces or removes it.
 *
 * @param hides whether a value may be a secret that messages must not repeat
 */
export function validate<S extends z.ZodType>(
  schema: S,
  input: unknown,
  at: ConfigPath,
  hides: (value: unknown) => boolean,
  replace: Replacements = {},
): ValidationResult<z.output<S>> {
  const issues: ConfigIssue[] = [];
  let current = input;
  const closed: Replacement[] = [];
  // Each round removes what is invalid and validates the rest, so that one mistake does not hide others.
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = schema.safeParse(current, { reportInput: true });
    if (result.success) {
      if (closed.length === 0) return { value: result.data, issues };
      // Last, so that other mistakes in these mappings are reported too.
      current = closed.splice(0).reduce(withReplacement, current);
      continue;
    }
    const unknown = result.error.issues.filter((issue) => issue.code === "unrecognized_keys");
    for (const issue of unknown) {
      const path = issue.path.filter(isStep);
      for (const key of issue.keys) {
        const replacement = replace.unknownKey?.([...path, key]);
        if (replacement !== undefined) closed.push(replacement);
        issues.push({
          kind: replacement === undefined ? "unknown_key" : "invalid",
          path: [...at, ...path, key],
          ...describeUnknownKey(key, getKeysAt(schema, path)),
          ...(replacement && { restricts: [...at, ...replacement.path] }),
        });
        current = without(current, [...path, key]);
      }
    }
    if (unknown.length > 0) continue;
    const found = result.error.issues;
    for (const one of found) {
      const issue = toConfigIssue(one, at, hides);
      // A value that is missing now was removed as invalid in an earlier round.
      if (!issues.some((earlier) => isSamePath(earlier.path, issue.path))) issues.push(issue);
    }
    const { invalid } = replace;
    if (invalid === undefined || found.some((issue) => issue.path.length === 0))
      return { value: undefined, issues };
    // Backwards, so that positions in lists stay valid.
    for (const issue of found.toReversed()) {
      const path = issue.path.filter(isStep);
      const replacement = invalid(path);
      current =
        replacement === undefined
          ? without(current, longestExisting(current, path))
          : withReplacement(current, replacement);
    }
  }
  return { value: undefined, issues };
}

const MAX_ROUNDS = 32;

function toConfigIssue(
  issue: z.core.$ZodIssue,
  at: ConfigPath,
  hides: (value: unknown) => boolean,
): ConfigIssue {
  const path = [...at, ...issue.path.filter(isStep)];
  return { kind: "invalid", path, ...describeIssue(issue, isConfidential(path) || hides(issue.input)) };
}

function describeUnknownKey(key: string, known: readonly string[]): Pick<ConfigIssue, "message" | "remedy"> {
  const all = known.length === 0 ? "Remove it." : `Valid keys are ${known.join(", ")}.`;
  return { message: "unknown key", remedy: `${didYouMean(key, known)}${all}` };
}

function isStep(step: PropertyKey): step is string | number {
  return typeof step !== "symbol";
}

function isSamePath(a: ConfigPath, b: ConfigPath): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/** Returns the longest part of a path that leads to a value. */
function longestExisting(value: unknown, path: ConfigPath): ConfigPath {
  let node: unknown = value;
  for (const [depth, step] of path.entries()) {
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, step)) return path.slice(0, depth);
    node = Object.getOwnPropertyDescriptor(node, step)?.value;
  }
  return path;
}

function without(value: unknown, path: ConfigPath): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return undefined;
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    return rest.length === 0
      ? items.filter((_, index) => index !== step)
      : items.map((item, index) => (index === step ? without(item, rest) : item));
  }
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== step));
  return Object.fromEntries(entries.map(([key, item]) => [key, key === step ? without(item, rest) : item]));
}

function withReplacement(value: unknown, { path, value: replacement, merges }: Replacement): unknown {
  const [step, ...rest] = path;
  const record = value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  if (step === undefined) return merges === true ? Object.assign({ ...record }, replacement) : replacement;
  const inner: unknown = Object.getOwnPropertyDescriptor(record, step)?.value;
  return { ...record, [step]: withReplacement(inner, { path: rest, value: replacement, merges }) };
}
