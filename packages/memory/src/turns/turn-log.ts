import type { Turn } from "../types.ts";

/** Positions up to which conversations are indexed, by names that their source chooses. */
export type Marks = Pick<ReadonlyMap<string, string>, "get">;

/** A batch of turns, oldest first. */
export interface TurnPage {
  readonly turns: readonly Turn[];
  /** Removes all turns that have been read so far from the index. Default: they are kept. */
  readonly startsOver?: boolean;
  /** The marks that this batch changes. */
  readonly marks: ReadonlyMap<string, string>;
}

/** A store of conversations. Memory only indexes them and can read them again at any time. */
export interface TurnSource {
  /**
   * Reads the turns after the marks; without marks, from the beginning. A turn with the id of an earlier one replaces
   * it. When the next page is requested, the previous one and its marks are committed.
   *
   * @param limit approximate number of turns per page
   */
  read(marks: Marks, limit: number): AsyncIterable<TurnPage>;
  /** Returns the given chats that no longer exist, so that they are removed. Default: none. */
  gone?(chats: readonly string[]): Promise<readonly string[]>;
}

/** Conversations that memory stores itself. */
export interface TurnLog extends TurnSource {
  append(turns: readonly Turn[]): Promise<void>;
  /** Removes turns and overwrites their text. */
  remove(ids: ReadonlySet<string>): Promise<void>;
}
