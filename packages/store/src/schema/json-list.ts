import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { customType } from "drizzle-orm/sqlite-core";
import { decodeIntact } from "../json.ts";

/**
 * A list as JSON; undefined where it is none any more. Drizzle's own column of JSON throws there, and one damaged row
 * would fail every query that meets it.
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

/** The values of such a list as rows; of one that is damaged, none. */
export const eachOf = (list: SQLWrapper): SQL =>
  sql`json_each(CASE WHEN json_valid(${list}) THEN ${list} END)`;
