import { bigint, customType } from "drizzle-orm/pg-core";

const ESCAPE = "\uF8F0";
const ESCAPED_ESCAPE = `${ESCAPE}1`;
const ESCAPED_NULL = `${ESCAPE}0`;

/**
 * A string. PostgreSQL cannot store null characters, so they are escaped. The migrations give these columns the
 * collation `C`, which sorts like SQLite.
 */
export const string = <T extends string = string>() =>
  customType<{ data: T; driverData: string }>({
    dataType: () => "text",
    toDriver: escapeText,
    fromDriver: (text) => restoreText<T>(text),
  })();

/** Returns the text as it is stored. */
export function escapeText(text: string): string {
  if (!text.includes("\0") && !text.includes(ESCAPE)) return text;
  return text.replaceAll(ESCAPE, ESCAPED_ESCAPE).replaceAll("\0", ESCAPED_NULL);
}

function restoreText<T extends string>(text: string): T {
  const plain = text.includes(ESCAPE)
    ? text.replaceAll(ESCAPED_NULL, "\0").replaceAll(ESCAPED_ESCAPE, ESCAPE)
    : text;
  return plain as T;
}

/** Bytes. */
export const bytes = customType<{ data: Uint8Array; driverData: Buffer }>({
  dataType: () => "bytea",
  toDriver: (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength),
});

/** A whole number, or a time in milliseconds. */
export const integer = () => bigint({ mode: "number" });
