import { expect, it } from "vitest";
import { createLeaseTerm } from "./lease-term.ts";

function createTerm() {
  const clocks = { monotonic: 100, wall: 1_000_000 };
  const term = createLeaseTerm(5_000, { monotonic: () => clocks.monotonic, wall: () => clocks.wall });
  return {
    term,
    pass(ms: number) {
      clocks.monotonic += ms;
      clocks.wall += ms;
    },
    clocks,
  };
}

it("counts a lease from before the request that renewed it, whatever order the answers have", () => {
  const { term, pass } = createTerm();
  expect(term.getMsLeft()).toBe(0);
  const first = term.begin();
  pass(2_000);
  const second = term.begin();
  pass(1_000);
  second();
  first();
  expect(term.getMsLeft()).toBe(4_000);
  pass(4_000);
  expect(term.getMsLeft()).toBe(0);
});

it("counts the time for which the machine was suspended", () => {
  const { term, clocks } = createTerm();
  term.begin()();
  clocks.wall += 60_000;
  expect(term.getMsLeft()).toBe(0);
});

it("does not extend a lease if the wall clock is set back", () => {
  const { term, clocks } = createTerm();
  term.begin()();
  clocks.monotonic += 5_000;
  clocks.wall -= 60_000;
  expect(term.getMsLeft()).toBe(0);
});

it("is not extended again after it was ended", () => {
  const { term } = createTerm();
  const succeed = term.begin();
  term.end();
  succeed();
  expect(term.getMsLeft()).toBe(0);
});
