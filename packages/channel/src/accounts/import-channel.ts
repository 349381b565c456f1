import type { ChannelDefinition } from "../contract/definition.ts";
import { reasonOf } from "../contract/errors.ts";
import { type ImportOptions, importPackage } from "./import-package.ts";

/**
 * Imports the definition of a channel, which a package exports as `default` or `channel`.
 *
 * @param packageName an npm package, or the path of a folder with one: `./my-channel`
 * @param id the expected id of the channel
 * @returns the definition, or a text that explains the failure
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
    if (exported.id !== id)
      return `the package ${packageName} contains the channel ${exported.id}, not ${id}`;
    return exported;
  } catch (error) {
    return `the package ${packageName} could not be loaded: ${reasonOf(error).replace(/ imported from \S+$/, "")}`;
  }
}

/** Finds the definition of a channel among the exports of a module, regardless of its name. */
export function findDefinition(
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
