import { isDeepStrictEqual } from "node:util";
import { isCollection, parseDocument } from "yaml";
import { editConfig } from "./edit.ts";
import { type LoadOptions, loadConfig } from "./load.ts";
import type { ConfigPath } from "./problem.ts";

/**
 * Removes the sections above `path` that became empty when the value there was removed. A section stays if being empty
 * means something, such as an empty list of tools, or an account without settings.
 *
 * @returns the new text
 */
export function removeEmptySections(options: LoadOptions, path: ConfigPath): string {
  const { file, text } = options;
  const section = path.slice(0, -1);
  if (section.length === 0 || !isEmpty(text, section)) return text;
  const shorter = { ...options, text: editConfig(file, text, [{ path: section, value: undefined }]) };
  const meansTheSame = isDeepStrictEqual(loadConfig(options).config, loadConfig(shorter).config);
  return meansTheSame ? removeEmptySections(shorter, section) : text;
}

function isEmpty(text: string, section: ConfigPath): boolean {
  const value: unknown = parseDocument(text).getIn(section);
  return isCollection(value) && value.items.length === 0;
}
