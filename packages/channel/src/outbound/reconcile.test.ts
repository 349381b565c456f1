import { expect, it } from "vitest";
import { reconciledFrom, sendWindow } from "./reconcile.ts";

it("searches from a minute before the first attempt until an hour after it", () => {
  expect(sendWindow({ attemptedAt: 10_000_000 })).toEqual({ start: 9_940_000, end: 13_600_000 });
});

it("reports a message as not sent only if the search was conclusive", () => {
  expect(reconciledFrom("m", false)).toEqual({ outcome: "sent", messageId: "m" });
  expect(reconciledFrom(undefined, true)).toEqual({ outcome: "not_sent" });
  expect(reconciledFrom(undefined, false)).toEqual({ outcome: "unknown" });
});
