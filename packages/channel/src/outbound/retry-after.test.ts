import { expect, it } from "vitest";
import { parseRetryAfter } from "../index.ts";

it.each([
  ["3", 3_000],
  [" 0.5 ", 500],
  ["Fri, 27 Nov 2026 12:00:10 GMT", 10_000],
  ["Fri, 27 Nov 2026 11:59:00 GMT", undefined],
  ["0", undefined],
  ["-3", undefined],
  ["1e999", undefined],
  ["soon", undefined],
  ["", undefined],
  [null, undefined],
])("parses %j as a delay of %s ms", (header, ms) => {
  expect(parseRetryAfter(header, Date.UTC(2026, 10, 27, 12))).toBe(ms);
});
