import type { StoredSecrets } from "../secrets.ts";

/** Facts outside the configuration file that it depends on. */
export interface Facts {
  readonly secrets: StoredSecrets;
  /** Approved pairings by `channel/account`, from the databases or files of the home. */
  readonly paired: readonly { readonly channel: string; readonly account: string; readonly peerId: string }[];
  /** Groups with conversations by channel. */
  readonly knownGroups: ReadonlyMap<string, ReadonlySet<string>>;
  /** True if the sessions belong to more than one person. */
  readonly severalPeople: boolean;
  readonly execApprovals: unknown;
}
