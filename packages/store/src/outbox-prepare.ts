import { hash } from "node:crypto";
import { StoreError } from "./errors.ts";
import { type PreparedHistory, prepareHistory } from "./group-history-prepare.ts";
import { encode } from "./json.ts";
import type { InboxId } from "./types/common.ts";
import type { OutboxInsert } from "./types/outbox.ts";

const keyShape = /^[0-9A-Za-z_-]{1,20}$/;

/** A validated and encoded insert. */
export interface PreparedOutbox {
  readonly row: OutboxInsert;
  readonly payload: string;
  readonly told?: PreparedHistory;
}

/** @throws StoreError `invalid` */
export function prepareOutbox(rows: readonly OutboxInsert[]): PreparedOutbox[] {
  return rows.map((row) => {
    if (row.key !== undefined && !keyShape.test(row.key)) {
      throw new StoreError(
        "invalid",
        `The outbox key "${row.key}" is not 1 to 20 characters of 0-9, A-Z, a-z, _ and -.`,
      );
    }
    return {
      row,
      payload: encode(row.payload, "The payload of an outbox row"),
      told: row.told === undefined ? undefined : prepareHistory(row.told),
    };
  });
}

/** Returns notices that name the messages that they report. */
export function noticesAbout(
  notices: readonly PreparedOutbox[],
  reports: readonly InboxId[],
): PreparedOutbox[] {
  return notices.map((notice) => ({ ...notice, row: { ...notice.row, reports } }));
}

/** Derives the key of a row from its run and position: 96 bits in 16 characters. */
export function derivedKey(origin: string, place: number): string {
  return hash("sha256", `${origin}\0${place}`, "buffer").subarray(0, 12).toString("base64url");
}
