/**
 * Parts of a home in the order in which they are imported. The configuration is last, so that a gateway never answers
 * with a home that is only partly imported.
 */
export const PARTS = ["workspaces", "skills", "memory", "sessions", "people", "schedules", "config"] as const;

export type Part = (typeof PARTS)[number];

/**
 * The result for an item of the source:
 * - `imported`: it is here as it was there.
 * - `changed`: it is here, and `why` names what is lost.
 * - `skipped`: it needs no import, or it was imported earlier.
 * - `conflict`: something else has its place here.
 * - `unsupported`: there is no equivalent.
 * - `secret`: it needs a secret, and secrets are copied only on request.
 */
export type ItemState = "imported" | "changed" | "skipped" | "conflict" | "unsupported" | "secret";

/** One thing that the source contains, with its result. */
export interface Item {
  readonly part: Part;
  /** Identifies the item in the source, such as a path of the configuration or the key of a session. */
  readonly id: string;
  readonly state: ItemState;
  /** Reason for any state but `imported`. */
  readonly why?: string | undefined;
  /** Its place in this home. */
  readonly to?: string | undefined;
}

/** Number of items in each state. */
export type Counts = Readonly<Partial<Record<ItemState, number>>>;

/** Counts the items of each state. */
export function countItems(items: readonly Item[]): Counts {
  const counts: Partial<Record<ItemState, number>> = {};
  for (const { state } of items) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
