import { mergeAccess, type SourceAccount, toAccessSection } from "./access.ts";
import type { Item } from "./item.ts";
import type { SettingsReader, SourcePath } from "./settings.ts";
import type { PersonImport } from "./source.ts";

/** Access rules of a home whose people are not distinguished by agent, and what they admit. */
export interface SimpleAccess {
  readonly people: readonly PersonImport[];
  readonly items: readonly Item[];
  readonly warnings: readonly string[];
  readonly owners: readonly string[];
  readonly hadOthers: boolean;
}

/**
 * Writes the access rules of all accounts as one setting.
 *
 * @param places values of the source that the rules come from
 */
export function mapAccess(
  reader: SettingsReader,
  places: readonly SourcePath[],
  accounts: readonly SourceAccount[],
  owners: readonly string[],
): SimpleAccess {
  const merged = mergeAccess(accounts, owners);
  if (accounts.length > 0 || owners.length > 0)
    reader.map(places, ["access"], toAccessSection(merged, undefined), {
      unit: "access",
      loss:
        accounts.length > 1 || merged.notes.length > 0
          ? "Access is one rule for all accounts here; the stricter rule of the source applies."
          : undefined,
    });
  const people = [...merged.allow, ...[...merged.groups.values()].flatMap(({ people: list }) => list)];
  return {
    people: merged.pairings.map((person) => ({
      kind: "person",
      id: `${person.channel}:${person.account}:${person.peerId}`,
      ...person,
    })),
    items: merged.notes.map(({ id, why }) => ({ part: "people", id, state: "skipped", why })),
    warnings: merged.notes.map(({ id, why }) => `${id} is not admitted: ${why}`),
    owners: merged.owners,
    hadOthers: merged.dm === "open" || people.length > 0 || merged.pairings.length > 0,
  };
}

/** Ids of groups with conversations, by channel. */
export type KnownGroups = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns what is lost with an MCP server: agents use its tools only if their own lists name them. */
export function toolsLoss(server: string): string {
  return `Agents use its tools only after mcp__${server}__* is in their tools.allow.`;
}
