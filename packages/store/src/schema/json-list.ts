import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { customType } from "drizzle-orm/sqlite-core";
import { decodeIntact } from "../json.ts";

/**
 * A list stored as JSON, or undefined if the JSON is damaged. Drizzle's own JSON column throws, so one damaged row
 * would fail every query that reads it.
 */
export const jsonList = <T>() =>
  customType<{ data: readonly T[] | undefined; driverData: string }>({
    dataType: () => "text",
    toDriver: (list) => JSON.stringify(list),
    fromDriver(text) {
      const list = decodeIntact<readonly T[]>(text);
      return Array.isArray(list) ? list : undefined;
    },
  })();

/** Returns the values of such a list as rows. Returns no rows if the list is damaged. */
export const eachOf = (list: SQLWrapper): SQL =>
  sql`json_each(CASE WHEN json_valid(${list}) THEN ${list} END)`;
