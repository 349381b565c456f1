import type { Turn } from "../types.ts";

/** How far conversations were read, by names that their source gives to its parts. */
export type Marks = Pick<ReadonlyMap<string, string>, "get">;

/** A part of the conversations, in the order in which they took place. */
export interface TurnPage {
  readonly turns: readonly Turn[];
  /** What was read before counts no more: of that only is found what comes again. Default: it counts. */
  readonly startsOver?: boolean;
  /** Those that have moved. */
  readonly marks: ReadonlyMap<string, string>;
}

/** Where conversations are read from, as far as memory goes: what it indexed can always be read there again. */
export interface TurnSource {
  /**
   * The turns beyond the marks; without marks, from the beginning. Turns of an id that came before replace it. When a
   * page is asked for, the one before it is kept with its marks.
   * @param limit about so many turns are in one page
   */
  read(marks: Marks, limit: number): AsyncIterable<TurnPage>;
  /** Those of some conversations that are kept no more: nothing of them is to be found. Default: none. */
  gone?(chats: readonly string[]): Promise<readonly string[]>;
}

/** Conversations that memory keeps itself. */
export interface TurnLog extends TurnSource {
  append(turns: readonly Turn[]): Promise<void>;
  /** Takes turns out, so that nothing of them is left. */
  remove(ids: ReadonlySet<string>): Promise<void>;
}
