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
 * The id of a row, a ULID: 10 characters of the time it was made at, 8 of its nonce, 8 of its number. So a row is found
 * by its id without an index, and two databases make different ones.
 */
export function idOf<Id extends AnyId>(at: number, nonce: number, row: number): Id {
  return brand(encode(at, 10) + encode(nonce, 8) + encode(row, 8));
}

/**
 * Makes the random part of ids, which stays for as long as the time does: ids of one millisecond sort as their rows.
 *
 * @param random gives a number in [0, 1)
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

/** The one place where a text becomes an id. */
function brand<Id extends AnyId>(text: string): Id {
  return text as Id;
}

/** An id that came from outside, for instance from a command line; `undefined` for what is none. */
export function parseId<Id extends AnyId>(text: string): Id | undefined {
  return shape.test(text) ? brand(text) : undefined;
}

/** When an id was made, in milliseconds since the epoch. */
export function timeOf(id: AnyId): number {
  return [...id.slice(0, 10)].reduce((time, digit) => time * 32 + digits.indexOf(digit), 0);
}

/** The row an id names; `undefined` for what is no id. Whether the row bears this id is for the caller to check. */
export function rowOf(id: string): number | undefined {
  if (!shape.test(id)) return undefined;
  let row = 0;
  for (let i = 18; i < 26; i += 1) row = row * 32 + digits.indexOf(id.charAt(i));
  return row;
}

/** The row of a cursor; behind all rows without one, and for what is no id. */
export function rowOrEnd(cursor: string | undefined): number {
  return (cursor === undefined ? undefined : rowOf(cursor)) ?? Number.MAX_SAFE_INTEGER;
}
