import type { ConfigEdit, LoadedConfig } from "@signalbox/config";
import { assertValidSection } from "./assert-valid-section.ts";

/**
 * Returns the changes that make a person an owner. None are needed if the person is an owner.
 *
 * @param person `channel:id`
 * @throws GatewayError if the list of owners has a problem
 */
export function getOwnerEdits(loaded: LoadedConfig, person: string): readonly ConfigEdit[] {
  assertValidSection(loaded, "access.owners");
  const { owners } = loaded.config.access;
  return owners.includes(person) ? [] : [{ path: ["access", "owners", owners.length], value: person }];
}
