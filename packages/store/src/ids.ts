import type { InboxId, OutboxId, RunId } from "./types/common.ts";

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const shape = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const nonceRange = 2 ** 40;

function encode(value: number, length: number): string {
  let text = "";
  let rest = value;
  for (let i = 0; i < length; i += 1) {
    text = digits.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

export type AnyId = InboxId | RunId | OutboxId;

/**
 * Returns the id of a row, a ULID: 10 characters for the time, 8 for the nonce and 8 for the row number. The id locates
 * its row without an index, and two databases never generate the same id.
 */
export function idOf<Id extends AnyId>(at: number, nonce: number, row: number): Id {
  return brand(encode(at, 10) + encode(nonce, 8) + encode(row, 8));
}

/**
 * Creates the generator of an id's random component. It returns the same value within one millisecond, so ids of the
 * same millisecond sort by row number.
 *
 * @param random returns a number in [0, 1)
 */
export function nonceMaker(random: () => number): (at: number) => number {
  let time: number | undefined;
  let nonce = 0;
  return (at) => {
    if (at !== time) {
      time = at;
      nonce = Math.floor(random() * nonceRange);
    }
    return nonce;
  };
}

/** The only cast from a string to an id. */
function brand<Id extends AnyId>(text: string): Id {
  return text as Id;
}

/** Parses an id, for example from a command line. Returns undefined if the id is not valid. */
export function parseId<Id extends AnyId>(text: string): Id | undefined {
  return shape.test(text) ? brand(text) : undefined;
}

/** Returns the time at which an id was created, in milliseconds since the epoch. */
export function timeOf(id: AnyId): number {
  return [...id.slice(0, 10)].reduce((time, digit) => time * 32 + digits.indexOf(digit), 0);
}

/**
 * Returns the row number encoded in an id, or undefined if the id is not valid. The caller must check that the row has
 * this id.
 */
export function rowOf(id: string): number | undefined {
  if (!shape.test(id)) return undefined;
  let row = 0;
  for (let i = 18; i < 26; i += 1) row = row * 32 + digits.indexOf(id.charAt(i));
  return row;
}

/**
 * Returns the row number of a cursor, or a number greater than any row number if the cursor is missing or not valid.
 */
export function rowOrEnd(cursor: string | undefined): number {
  return (cursor === undefined ? undefined : rowOf(cursor)) ?? Number.MAX_SAFE_INTEGER;
}
