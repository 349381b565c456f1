import { isDeepStrictEqual } from "node:util";
import { isCollection, parseDocument } from "yaml";
import { editConfig } from "./edit.ts";
import { type LoadOptions, loadConfig } from "./load.ts";
import type { ConfigPath } from "./problem.ts";

/**
 * The text of a configuration without the sections that held nothing but the value that stood at `path`. Those stay
 * that say something by being empty, as a list of tools with none in it, or an account under its name.
 */
export function withoutEmptied(options: LoadOptions, path: ConfigPath): string {
  const { file, text } = options;
  const section = path.slice(0, -1);
  if (section.length === 0 || !isEmpty(text, section)) return text;
  const shorter = { ...options, text: editConfig(file, text, [{ path: section, value: undefined }]) };
  const meansTheSame = isDeepStrictEqual(loadConfig(options).config, loadConfig(shorter).config);
  return meansTheSame ? withoutEmptied(shorter, section) : text;
}

function isEmpty(text: string, section: ConfigPath): boolean {
  const value: unknown = parseDocument(text).getIn(section);
  return isCollection(value) && value.items.length === 0;
}
