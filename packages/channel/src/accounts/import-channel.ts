import type { ChannelDefinition } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import { type ImportOptions, importPackage } from "./import-package.ts";

/**
 * The definition of a channel that a package exports as `default` or `channel`; a text says why there is none.
 *
 * @param packageName an npm package, or the path of a folder that holds one: `./my-channel`
 */
export async function importChannel(
  packageName: string,
  id: string,
  options: ImportOptions,
): Promise<ChannelDefinition | string> {
  try {
    const module = await importPackage(packageName, options);
    const exported = module["default"] ?? module["channel"];
    if (!isDefinition(exported))
      return `the package ${packageName} exports no channel definition of version 1`;
    if (exported.id !== id) return `the package ${packageName} brings the channel ${exported.id}, not ${id}`;
    return exported;
  } catch (error) {
    return `the package ${packageName} could not be loaded: ${reasonOf(error).replace(/ imported from \S+$/, "")}`;
  }
}

/** The definition of a channel in what a module exports, under whatever name. */
export function definitionIn(
  module: Readonly<Record<string, unknown>>,
  id: string,
): ChannelDefinition | undefined {
  return Object.values(module)
    .filter(isDefinition)
    .find((definition) => definition.id === id);
}

function isDefinition(value: unknown): value is ChannelDefinition {
  if (!isObject(value)) return false;
  const { specVersion, id, create, meta, config, capabilities } = value;
  return (
    specVersion === 1 &&
    typeof id === "string" &&
    typeof create === "function" &&
    isObject(meta) &&
    isObject(meta["fields"]) &&
    isObject(config) &&
    isObject(config["~standard"]) &&
    isObject(capabilities)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && (typeof value === "object" || typeof value === "function");
}
