import type { z } from "zod";
import type { ConfigPath } from "./problem.ts";

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

/** Checks a part against its schema. Unknown keys never make it fail. */
export function validate<S extends z.ZodType>(
  schema: S,
  input: unknown,
  at: ConfigPath,
): Checked<z.output<S>> {
  const complaints: Complaint[] = [];
  let current = input;
  // Unknown keys are removed and the rest is tried again, so that one misspelt key hides nothing else.
  for (let round = 0; round < 8; round++) {
    const result = schema.safeParse(current);
    if (result.success) return { value: result.data, complaints };
    const unknown = result.error.issues.filter((issue) => issue.code === "unrecognized_keys");
    if (unknown.length === 0) {
      complaints.push(...result.error.issues.map((issue) => wrong(issue, at)));
      return { value: undefined, complaints };
    }
    for (const issue of unknown) {
      const path = issue.path.filter(isStep);
      for (const key of issue.keys) {
        complaints.push({
          kind: "unknown-key",
          path: [...at, ...path, key],
          message: "unknown key, ignored",
          remedy: "Remove it or correct its spelling; `signalbox config schema` lists the keys.",
        });
        current = without(current, [...path, key]);
      }
    }
  }
  return { value: undefined, complaints };
}

function wrong(issue: z.core.$ZodIssue, at: ConfigPath): Complaint {
  const path = [...at, ...issue.path.filter(isStep)];
  if (issue.code === "invalid_value") {
    const choices = issue.values.map((value) => JSON.stringify(value)).join(", ");
    return {
      kind: "wrong",
      path,
      message: "is not one of the values it may have",
      remedy: `Use one of ${choices}.`,
    };
  }
  if (issue.code === "invalid_union") {
    const first = issue.errors[0]?.[0];
    if (first) return { ...wrong(first, path), path };
  }
  if (issue.code === "invalid_type" && issue.input === undefined) {
    return { kind: "wrong", path, message: `is missing (a ${issue.expected} is needed)`, remedy: "Add it." };
  }
  return { kind: "wrong", path, message: issue.message, remedy: "Correct the value." };
}

function isStep(step: PropertyKey): step is string | number {
  return typeof step !== "symbol";
}

function without(value: unknown, path: ConfigPath): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(value))
    return value.map((item: unknown, index) => (index === step ? without(item, rest) : item));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([key]) => key !== step));
  return Object.fromEntries(entries.map(([key, item]) => [key, key === step ? without(item, rest) : item]));
}
