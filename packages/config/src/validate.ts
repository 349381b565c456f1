import type { z } from "zod";
import type { Closed } from "./closed.ts";
import type { ConfigPath } from "./problem.ts";
import { keysAt } from "./schema-keys.ts";
import { didYouMean } from "./suggest.ts";
import { wordsFor } from "./words.ts";

/** One complaint about a part of the configuration. */
interface Complaint {
  readonly kind: "wrong" | "unknown-key";
  readonly path: ConfigPath;
  readonly message: string;
  readonly remedy: string;
}

/** The checked value, or nothing where something in it is wrong; unknown keys are complained about and left out. */
export interface Checked<T> {
  readonly value: T | undefined;
  readonly complaints: readonly Complaint[];
}

/**
 * Checks a part against its schema. Unknown keys never make it fail. Without `mend` a wrong value does; with it only
 * that value is left out, or what `mend` gives for its place is put in.
 */
export function validate<S extends z.ZodType>(
  schema: S,
  input: unknown,
  at: ConfigPath,
  mend?: (path: ConfigPath) => Closed | undefined,
): Checked<z.output<S>> {
  const complaints: Complaint[] = [];
  let current = input;
  // What is complained about is taken out and the rest is tried again, so that one slip hides nothing else.
  for (let round = 0; round < ROUNDS; round++) {
    const result = schema.safeParse(current, { reportInput: true });
    if (result.success) return { value: result.data, complaints };
    const unknown = result.error.issues.filter((issue) => issue.code === "unrecognized_keys");
    for (const issue of unknown) {
      const path = issue.path.filter(isStep);
      for (const key of issue.keys) {
        complaints.push({
          kind: "unknown-key",
          path: [...at, ...path, key],
          ...unknownKey(key, keysAt(schema, path)),
        });
        current = without(current, [...path, key]);
      }
    }
    if (unknown.length > 0) continue;
    const { issues } = result.error;
    for (const issue of issues) {
      const complaint = wrong(issue, at);
      // What is missing now was taken out as wrong before.
      if (!complaints.some((earlier) => samePath(earlier.path, complaint.path))) complaints.push(complaint);
    }
    if (mend === undefined || issues.some((issue) => issue.path.length === 0))
      return { value: undefined, complaints };
    // From the back, so that positions in lists stay right.
    for (const issue of issues.toReversed()) {
      const path = issue.path.filter(isStep);
      const closed = mend(path);
      current = closed === undefined ? without(current, present(current, path)) : put(current, closed);
    }
  }
  return { value: undefined, complaints };
}

const ROUNDS = 32;

function wrong(issue: z.core.$ZodIssue, at: ConfigPath): Complaint {
  return { kind: "wrong", path: [...at, ...issue.path.filter(isStep)], ...wordsFor(issue) };
}

function unknownKey(key: string, known: readonly string[]): Pick<Complaint, "message" | "remedy"> {
  const all = known.length === 0 ? "Remove it." : `Valid keys are ${known.join(", ")}.`;
  return { message: "unknown key", remedy: `${didYouMean(key, known)}${all}` };
}

function isStep(step: PropertyKey): step is string | number {
  return typeof step !== "symbol";
}

function samePath(a: ConfigPath, b: ConfigPath): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/** The path, or the nearest one above it that leads to a value. */
function present(value: unknown, path: ConfigPath): ConfigPath {
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

function put(value: unknown, { path, value: given }: Closed): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return given;
  const record = value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
  const inner: unknown = Object.getOwnPropertyDescriptor(record, step)?.value;
  return { ...record, [step]: put(inner, { path: rest, value: given }) };
}
