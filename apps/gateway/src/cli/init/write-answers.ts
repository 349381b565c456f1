import type { ConfigEdit, ConfigPath } from "@signalbox/config";

/** Writes answers to the configuration. Existing values stay unless the answer to a question replaces them. */
export function answersAt(
  path: ConfigPath,
  answers: Readonly<Record<string, unknown>>,
  isThere: boolean,
): ConfigEdit[] {
  const entries = Object.entries(answers);
  if (entries.length === 0) return [];
  return isThere
    ? entries.map(([name, value]) => ({ path: [...path, name], value }))
    : [{ path, value: answers }];
}
