import type { Turn } from "../types.ts";

/** A part of the conversations, in the order in which they took place. */
export interface TurnPage {
  readonly turns: readonly Turn[];
  /** Where the next page begins. */
  readonly cursor: string;
  /** Whether there was nothing more when it was read. */
  readonly last: boolean;
}

/** Where conversations are read from, as far as memory goes: what it indexed can always be read there again. */
export interface TurnSource {
  /** The turns from a cursor on; without one, from the beginning. Turns of an id that came before replace it. */
  read(cursor: string | undefined, limit: number): Promise<TurnPage>;
  /** Those of some conversations that are kept no more: nothing of them is to be found. Default: none. */
  gone?(chats: readonly string[]): Promise<readonly string[]>;
}

/** Conversations that memory keeps itself. */
export interface TurnLog extends TurnSource {
  append(turns: readonly Turn[]): Promise<void>;
  /** Takes turns out, so that nothing of them is left. */
  remove(ids: ReadonlySet<string>): Promise<void>;
}
