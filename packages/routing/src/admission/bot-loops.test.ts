import { expect, it } from "vitest";
import { createBotLoops } from "../index.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

function startConversation(): { at(ms: number): void; say(conversation?: string): boolean } {
  let now = 0;
  const loops = createBotLoops(() => now);
  return {
    at: (ms) => {
      now = ms;
    },
    say: (conversation = "team") => loops.admits(conversation),
  };
}

it("pauses for five minutes after 20 messages of bots that answer each other", () => {
  const { at, say } = startConversation();
  const answered: number[] = [];
  for (let second = 0; second < 7 * 60; second++) {
    at(second * SECOND);
    if (say()) answered.push(second);
  }
  expect(answered.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, second) => second));
  expect(answered[20]).toBeUndefined();
});

it("answers a bot again after a pause in which it was silent", () => {
  const { at, say } = startConversation();
  for (let count = 0; count < 20; count++) expect(say()).toBe(true);
  expect(say()).toBe(false);
  at(5 * MINUTE - 1);
  expect(say()).toBe(false);
  at(5 * MINUTE + SECOND);
  expect(say()).toBe(true);
});

it("never pauses a bot that writes every three seconds", () => {
  const { at, say } = startConversation();
  for (let count = 0; count < 500; count++) {
    at(count * 3 * SECOND);
    expect(say()).toBe(true);
  }
});

it("counts each conversation separately", () => {
  const { say } = startConversation();
  for (let count = 0; count < 30; count++) say();
  expect(say("elsewhere")).toBe(true);
});
