import { expect } from "vitest";
import { formatProblem, type LoadedConfig, loadConfig, type Problem } from "../src/index.ts";

/** Loads a text as `signalbox.yaml`. */
export function load(text: string, env: Record<string, string> = {}): LoadedConfig {
  return loadConfig({ file: "signalbox.yaml", text, env });
}

/** Returns the only problem. */
export function only(loaded: LoadedConfig): Problem {
  expect(loaded.problems.map(formatProblem)).toHaveLength(1);
  const [problem] = loaded.problems;
  if (!problem) throw new Error("no problem was reported");
  return problem;
}
