import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Home, storeSecret } from "@signalbox/home";
import type { ConfigurationChange, ConfigurationWrite } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";

/** Reads and changes the configuration file. */
export type ConfigurationAccess = Pick<AdminService, "configuration" | "writeConfiguration">;

type Edits = NonNullable<ConfigurationChange["edits"]>;

/** Changes the configuration with references to secrets in separate files. */
export interface SecretChange {
  readonly home: Home;
  readonly configuration: ConfigurationAccess;
  readonly actor: string;
  /** The secrets by the names of their files. */
  readonly secrets: ReadonlyMap<string, string>;
  /**
   * Returns the edits.
   *
   * @param values the configuration as written, without its secrets
   * @param references the references by the names of the files
   */
  readonly getEdits: (values: unknown, references: ReadonlyMap<string, string>) => Edits;
}

/**
 * Stores secrets and changes the configuration. If the change is refused, the files have their previous content.
 *
 * @throws ApiError if the configuration cannot be edited, or has new errors
 */
export async function writeWithSecrets({
  home,
  configuration,
  actor,
  secrets,
  getEdits,
}: SecretChange): Promise<ConfigurationWrite> {
  const { editable, reason, revision, values } = await configuration.configuration();
  if (!editable) throw new ApiError("conflict", reason ?? "The configuration cannot be edited here.");
  const previous = new Map([...secrets.keys()].map((name) => [name, readSecret(home, name)]));
  const references = new Map([...secrets].map(([name, value]) => [name, storeSecret(home, name, value)]));
  try {
    return await configuration.writeConfiguration({ revision, edits: getEdits(values, references) }, actor);
  } catch (error) {
    for (const [name, content] of previous) restoreSecret(home, name, content);
    throw error;
  }
}

/** Returns the edits that set entries of a mapping. The mapping is created if it does not exist. */
export function setEntries(
  values: unknown,
  path: readonly string[],
  entries: Readonly<Record<string, unknown>>,
): Edits {
  if (getValue(values, path) === undefined) return [{ path: [...path], value: entries }];
  return Object.entries(entries).map(([name, value]) => ({ path: [...path, name], value }));
}

/** Returns a nested value, or undefined. */
export function getValue(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[name];
  }
  return value;
}

function getFile({ dir }: Home, name: string): string {
  return join(dir, "secrets", name);
}

function readSecret(home: Home, name: string): string | undefined {
  try {
    return readFileSync(getFile(home, name), "utf8");
  } catch {
    return undefined;
  }
}

function restoreSecret(home: Home, name: string, content: string | undefined): void {
  if (content === undefined) rmSync(getFile(home, name), { force: true });
  else writeFileSync(getFile(home, name), content, { mode: 0o600 });
}
