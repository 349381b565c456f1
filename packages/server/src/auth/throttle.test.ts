import { describe, expect, it } from "vitest";
import { createThrottle } from "./throttle.ts";

/** Numbers in [0, 1) that are the same in each run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const MINUTES = 10;

/**
 * Guesses from one address, and somebody there who, each minute anew, sends the right secret every second until it is
 * taken.
 */
function flood(guessesASecond: number, momentOf: (part: number) => number) {
  const clock = { ms: 1_000_000_000 };
  const throttle = createThrottle(() => clock.ms, seeded(7));
  const triesOfEach: number[] = [];
  let guessed = 0;
  for (let minute = 0; minute < MINUTES; minute++) {
    let taken = false;
    let tries = 0;
    for (let second = 0; second < 60; second++) {
      const start = 1_000_000_000 + (minute * 60 + second) * 1_000;
      for (let guess = 0; guess < guessesASecond; guess++) {
        clock.ms = start + momentOf(guess / guessesASecond);
        if (!throttle.looks("proxy")) continue;
        guessed += 1;
        throttle.failed("proxy");
      }
      clock.ms = start + 999;
      if (taken) continue;
      tries += 1;
      taken = throttle.looks("proxy");
    }
    triesOfEach.push(taken ? tries : Number.POSITIVE_INFINITY);
  }
  return { guessedASecond: guessed / (MINUTES * 60), triesOfEach };
}

/** Years for half of what sixteen hexadecimal digits can be. */
function yearsForHalf(guessedASecond: number): number {
  return 16 ** 16 / 2 / guessedASecond / (365 * 86_400);
}

describe("a flood of guesses from behind a proxy", () => {
  it.each([
    ["evenly", 700, (part: number) => part * 998],
    ["all in the first moment of each second", 700, () => 0],
    ["faster than any gateway answers", 5_000, (part: number) => part * 998],
  ])("that comes %s is looked at fifty times a second", (how, guessesASecond, momentOf) => {
    const { guessedASecond, triesOfEach } = flood(guessesASecond, momentOf);
    const tries = triesOfEach.toSorted((a, b) => a - b);
    const median = tries[MINUTES / 2];
    const years = yearsForHalf(guessedASecond).toExponential(0);
    console.log(
      `${guessesASecond} guesses a second, ${how}: ${guessedASecond.toFixed(0)} looked at; the right secret is in after ${median} tries at the median, ${tries.at(-1)} at most; half of all secrets of 16 hexadecimal digits take ${years} years`,
    );
    expect(guessedASecond).toBeGreaterThan(40);
    expect(guessedASecond).toBeLessThan(70);
  });

  it("keeps the right secret waiting for seconds, and locks it out for none of the minutes", () => {
    const tries = flood(700, () => 0).triesOfEach.toSorted((a, b) => a - b);
    expect(tries.at(-1)).toBeLessThanOrEqual(60);
    expect(tries[MINUTES / 2]).toBeLessThanOrEqual(20);
  });
});

it("leaves who does not guess alone", () => {
  const throttle = createThrottle(
    () => 0,
    () => 0.999,
  );
  for (let request = 0; request < 1_000; request++) expect(throttle.looks("client")).toBe(true);
});

it("takes the addresses of one IPv6 network for one peer", () => {
  const throttle = createThrottle(
    () => 0,
    () => 0.999,
  );
  for (let guess = 0; guess < 10; guess++) throttle.failed(`2001:db8::${guess + 1}`);
  expect(throttle.isSlowed("2001:db8:0:0:ffff::1")).toBe(true);
  expect(throttle.isSlowed("2001:db8:0:1::1")).toBe(false);
  expect(throttle.isSlowed("::ffff:192.0.2.1")).toBe(false);
});
