import type { InboxId, OutboxId, RunId } from "./types/common.ts";

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const shape = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
const saltRange = 2 ** 40;

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

/** Makes ids that are ULIDs and carry the number of their row. */
export type IdMaker = <Id extends AnyId>(now: number, row: number) => Id;

/**
 * 10 characters of time, 8 random ones that change with the millisecond, 8 for the row number: ids of one table rise
 * with their rows, two databases make different ones, and finding a row by its id needs no index. The time never
 * goes back, whatever the clock does.
 *
 * @param random gives a number in [0, 1)
 */
export function idMaker(random: () => number): IdMaker {
  let time = -1;
  let head = "";
  return <Id extends AnyId>(now: number, row: number): Id => {
    if (now > time) {
      time = now;
      head = encode(now, 10) + encode(Math.floor(random() * saltRange), 8);
    }
    return brand(head + encode(row, 8));
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
