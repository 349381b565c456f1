import type { ChannelDefinition } from "../contract/definition.ts";

/**
 * The definition of a channel that a package exports as `default` or `channel`; a text says why there is none.
 * @param load imports the package, from where the host's packages are
 */
export async function importChannel(
  packageName: string,
  id: string,
  load: (packageName: string) => Promise<Readonly<Record<string, unknown>>>,
): Promise<ChannelDefinition | string> {
  try {
    const module = await load(packageName);
    const exported = module["default"] ?? module["channel"];
    if (!isDefinition(exported))
      return `the package ${packageName} exports no channel definition of version 1`;
    if (exported.id !== id) return `the package ${packageName} brings the channel ${exported.id}, not ${id}`;
    return exported;
  } catch (error) {
    return `the package ${packageName} could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isDefinition(value: unknown): value is ChannelDefinition {
  return (
    value !== null &&
    typeof value === "object" &&
    "specVersion" in value &&
    value.specVersion === 1 &&
    "id" in value &&
    typeof value.id === "string" &&
    "create" in value &&
    typeof value.create === "function"
  );
}
