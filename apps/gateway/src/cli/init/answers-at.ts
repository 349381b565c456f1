import type { ConfigEdit, ConfigPath } from "@signalbox/config";

/**
 * Writes answers where they belong: what stands there already is kept, as far as nobody was asked about it or has said
 * nothing to it.
 */
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
