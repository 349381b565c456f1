import { describe, expect, it } from "vitest";
import { createRateLimiter } from "./rate.ts";

const RULE = { perSecond: 5, burst: 2 };

describe("createRateLimiter", () => {
  it("holds nothing up while the platform takes everything", () => {
    const limiter = createRateLimiter(() => 0);
    for (let send = 0; send < 100; send++) expect(limiter.reserve("chat", RULE)).toBe(0);
  });

  it("keeps the rule after a complaint, for that key alone and for a minute", () => {
    let now = 0;
    const limiter = createRateLimiter(() => now);
    limiter.complained("chat");
    expect(limiter.reserve("chat", RULE)).toBe(200);
    expect(limiter.reserve("chat", RULE)).toBe(400);
    expect(limiter.reserve("other", RULE)).toBe(0);
    now = 5_000;
    expect(limiter.reserve("chat", RULE)).toBe(0);
    expect(limiter.reserve("chat", RULE)).toBe(0);
    expect(limiter.reserve("chat", RULE)).toBe(200);
    now = 61_000;
    for (let send = 0; send < 10; send++) expect(limiter.reserve("chat", RULE)).toBe(0);
  });
});
