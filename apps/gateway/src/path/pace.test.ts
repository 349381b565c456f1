import { expect, it } from "vitest";
import { createPace } from "./pace.ts";

const slow = { key: "chat", rule: { perSecond: 2, burst: 2 } };
const fast = { key: "account", rule: { perSecond: 10, burst: 3 } };

it("never passes a rate, and says when the next may go", () => {
  let now = 1_000;
  const pace = createPace(() => now);
  expect([pace.take([slow]), pace.take([slow])]).toEqual([0, 0]);
  const wait = pace.take([slow]);
  expect(wait).toBe(500);
  now += wait - 1;
  expect(pace.take([slow])).toBeGreaterThan(0);
  now += 1;
  expect(pace.take([slow])).toBe(0);
});

it("counts something under all of its rules or under none", () => {
  const pace = createPace(() => 0);
  const other = { ...slow, key: "other chat" };
  pace.take([slow]);
  pace.take([slow]);
  // Refused for its chat, it costs the account nothing.
  expect(pace.take([slow, fast])).toBeGreaterThan(0);
  expect([pace.take([other, fast]), pace.take([other, fast]), pace.take([fast])]).toEqual([0, 0, 0]);
  expect(pace.take([fast])).toBeGreaterThan(0);
});

it("pauses for as long as it is told", () => {
  let now = 0;
  const pace = createPace(() => now);
  pace.pause("chat", 3_000);
  expect(pace.take([slow])).toBe(3_000);
  now = 3_000;
  expect(pace.take([slow])).toBe(0);
});

it("forgets what is full again", () => {
  let now = 0;
  const pace = createPace(() => now);
  for (let chat = 0; chat < 5_000; chat++) {
    expect(pace.take([{ ...slow, key: `chat ${chat}` }])).toBe(0);
    now += 1;
  }
  expect(pace.take([{ ...slow, key: "chat 4999" }])).toBe(0);
  expect(pace.take([{ ...slow, key: "chat 4999" }])).toBeGreaterThan(0);
});
