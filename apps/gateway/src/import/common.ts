import {
  formatPairing,
  listOtherPairings,
  mergeAccess,
  type SourceAccount,
  toAccessSection,
} from "./access.ts";
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
  paired: readonly { readonly channel: string; readonly peerId: string }[],
): SimpleAccess {
  const merged = mergeAccess(accounts, owners);
  // These systems do not record to which account of a channel a person is paired.
  const pairings = paired.flatMap(({ channel, peerId }) => {
    const own = accounts.filter((each) => each.channel === channel).map(({ account }) => account);
    return (own.length === 0 ? ["main"] : own).map((account) => ({ channel, account, peerId }));
  });
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
      id: formatPairing(person),
      ...person,
    })),
    items: [
      ...merged.notes.map(({ id, why }): Item => ({ part: "people", id, state: "skipped", why })),
      ...listOtherPairings(pairings, accounts, merged),
    ],
    warnings: merged.notes.map(({ id, why }) => `${id} is not admitted: ${why}`),
    owners: merged.owners,
    hadOthers: merged.dm === "open" || people.length > 0 || merged.pairings.length > 0,
  };
}

/** Ids of groups with conversations, by channel. */
export type KnownGroups = ReadonlyMap<string, ReadonlySet<string>>;
