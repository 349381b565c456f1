import { expect, it } from "vitest";
import { retryAfterMs } from "../index.ts";

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
])("reads %j as %s ms to wait", (header, ms) => {
  expect(retryAfterMs(header, Date.UTC(2026, 10, 27, 12))).toBe(ms);
});
