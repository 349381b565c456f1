import { describe, expect, it } from "vitest";
import { createThrottle } from "./throttle.ts";

/** Creates a deterministic generator of numbers in [0, 1). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const MINUTES = 10;

/**
 * Simulates an attacker and a user behind one address. In each minute, the user sends the right secret once a second
 * until it is checked.
 *
 * @param getMoment returns the time of a guess within its second, in milliseconds
 */
function simulate(guessesPerSecond: number, getMoment: (part: number) => number) {
  const clock = { ms: 1_000_000_000 };
  const throttle = createThrottle(() => clock.ms, seeded(7));
  const attempts: number[] = [];
  let checked = 0;
  for (let minute = 0; minute < MINUTES; minute++) {
    let isSignedIn = false;
    let tries = 0;
    for (let second = 0; second < 60; second++) {
      const start = 1_000_000_000 + (minute * 60 + second) * 1_000;
      for (let guess = 0; guess < guessesPerSecond; guess++) {
        clock.ms = start + getMoment(guess / guessesPerSecond);
        if (!throttle.mayCheck("proxy")) continue;
        checked += 1;
        throttle.failed("proxy");
      }
      clock.ms = start + 999;
      if (isSignedIn) continue;
      tries += 1;
      isSignedIn = throttle.mayCheck("proxy");
    }
    attempts.push(isSignedIn ? tries : Number.POSITIVE_INFINITY);
  }
  return { checksPerSecond: checked / (MINUTES * 60), attempts };
}

/** Returns the years to try half of all secrets of 16 hexadecimal digits. */
function getYears(checksPerSecond: number): number {
  return 16 ** 16 / 2 / checksPerSecond / (365 * 86_400);
}

describe("a flood of guesses from behind a proxy", () => {
  it.each([
    ["evenly", 700, (part: number) => part * 998],
    ["all at the beginning of each second", 700, () => 0],
    ["faster than a gateway can respond", 5_000, (part: number) => part * 998],
  ])("that arrives %s is checked about 50 times a second", (how, guessesPerSecond, getMoment) => {
    const { checksPerSecond, attempts } = simulate(guessesPerSecond, getMoment);
    const tries = attempts.toSorted((a, b) => a - b);
    const median = tries[MINUTES / 2];
    const years = getYears(checksPerSecond).toExponential(0);
    console.log(
      `${guessesPerSecond} guesses per second, ${how}: ${checksPerSecond.toFixed(0)} checked; the right secret needs ${median} attempts (median), at most ${tries.at(-1)}; trying half of all secrets of 16 hexadecimal digits takes ${years} years`,
    );
    expect(checksPerSecond).toBeGreaterThan(40);
    expect(checksPerSecond).toBeLessThan(70);
  });

  it("delays the right secret by seconds and never locks it out for a minute", () => {
    const tries = simulate(700, () => 0).attempts.toSorted((a, b) => a - b);
    expect(tries.at(-1)).toBeLessThanOrEqual(60);
    expect(tries[MINUTES / 2]).toBeLessThanOrEqual(20);
  });
});

it("checks every secret of a peer that sends no wrong ones", () => {
  const throttle = createThrottle(
    () => 0,
    () => 0.999,
  );
  for (let request = 0; request < 1_000; request++) expect(throttle.mayCheck("client")).toBe(true);
});

it("counts the addresses of one IPv6 /64 network as one peer", () => {
  const throttle = createThrottle(
    () => 0,
    () => 0.999,
  );
  for (let guess = 0; guess < 10; guess++) throttle.failed(`2001:db8::${guess + 1}`);
  expect(throttle.isSlowed("2001:db8:0:0:ffff::1")).toBe(true);
  expect(throttle.isSlowed("2001:db8:0:1::1")).toBe(false);
  expect(throttle.isSlowed("::ffff:192.0.2.1")).toBe(false);
});
