import { expect, it } from "vitest";
import { createBotLoops } from "../index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function watched(): { at(ms: number): void; say(conversation?: string): boolean } {
  let now = 0;
  const loops = createBotLoops(() => now);
  return {
    at: (ms) => {
      now = ms;
    },
    say: (conversation = "team") => loops.admits(conversation),
  };
}

it("two bots that answer each other get 20 answers, and a pause of five minutes from then on", () => {
  const { at, say } = watched();
  const answered: number[] = [];
  for (let second = 0; second < 7 * 60; second++) {
    at(second * SECOND);
    if (say()) answered.push(second);
  }
  expect(answered.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, second) => second));
  expect(answered[20]).toBeUndefined();
});

it("one that fell silent in the pause is answered after it", () => {
  const { at, say } = watched();
  for (let count = 0; count < 20; count++) expect(say()).toBe(true);
  expect(say()).toBe(false);
  at(5 * MINUTE - 1);
  expect(say()).toBe(false);
  at(5 * MINUTE + SECOND);
  expect(say()).toBe(true);
});

it("a bot that writes now and then is answered for ever", () => {
  const { at, say } = watched();
  for (let count = 0; count < 500; count++) {
    at(count * 3 * SECOND);
    expect(say()).toBe(true);
  }
});

it("what is said in one conversation stops nothing in another", () => {
  const { say } = watched();
  for (let count = 0; count < 30; count++) say();
  expect(say("elsewhere")).toBe(true);
});
