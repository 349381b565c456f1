import { expect, it } from "vitest";
import { TokenBuckets } from "./token-buckets.ts";

const slow = { key: "chat", rule: { perSecond: 2, burst: 2 } };
const fast = { key: "account", rule: { perSecond: 10, burst: 3 } };

it("limits the rate and returns the delay until the next request", () => {
  let now = 1_000;
  const buckets = new TokenBuckets(() => now);
  expect([buckets.take([slow]), buckets.take([slow])]).toEqual([0, 0]);
  const wait = buckets.take([slow]);
  expect(wait).toBe(500);
  now += wait - 1;
  expect(buckets.take([slow])).toBeGreaterThan(0);
  now += 1;
  expect(buckets.take([slow])).toBe(0);
});

it("counts a request under all of its rules or under none", () => {
  const buckets = new TokenBuckets(() => 0);
  const other = { ...slow, key: "other chat" };
  buckets.take([slow]);
  buckets.take([slow]);
  // A request delayed by the limit of its chat must not count toward the limit of the account.
  expect(buckets.take([slow, fast])).toBeGreaterThan(0);
  expect([buckets.take([other, fast]), buckets.take([other, fast]), buckets.take([fast])]).toEqual([0, 0, 0]);
  expect(buckets.take([fast])).toBeGreaterThan(0);
});

it("blocks a key for the given time", () => {
  let now = 0;
  const buckets = new TokenBuckets(() => now);
  buckets.pause("chat", 3_000);
  expect(buckets.take([slow])).toBe(3_000);
  now = 3_000;
  expect(buckets.take([slow])).toBe(0);
});

it("drops full buckets", () => {
  let now = 0;
  const buckets = new TokenBuckets(() => now);
  for (let chat = 0; chat < 5_000; chat++) {
    expect(buckets.take([{ ...slow, key: `chat ${chat}` }])).toBe(0);
    now += 1;
  }
  expect(buckets.take([{ ...slow, key: "chat 4999" }])).toBe(0);
  expect(buckets.take([{ ...slow, key: "chat 4999" }])).toBeGreaterThan(0);
});
