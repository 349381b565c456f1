import { expect, it } from "vitest";
import type { Undelivered } from "./outbox.ts";
import { wordsAboutDead, wordsAboutExpired } from "./undelivered.ts";

const DAY = 86_400_000;

function ended(address: string, { sent = 0, messages = ["m"] } = {}): Undelivered {
  return {
    messages,
    row: {
      ...{ id: "row", channel: "plain", account: "main", address, key: "key", state: "expired", attempts: 1 },
      ...{ partCount: 2, updatedAt: 0, payload: { parts: [], replyTo: "om_1" } },
      receipts: Array.from({ length: sent }, (_, part) => ({ part, receipt: null })),
    },
  };
}

const textsOf = (rows: ReturnType<typeof wordsAboutExpired>) =>
  rows.map(({ address, payload: { parts } }) => [address, parts[0]?.type === "text" ? parts[0].text : ""]);

it("tells people of answers that came too late, once for each destination", () => {
  const words = wordsAboutExpired([ended("a"), ended("b", { sent: 1 }), ended("a")], 0);
  expect(textsOf(words)).toEqual([
    ["a", expect.stringMatching(/^2 answers could not be delivered in time/)],
    ["b", expect.stringMatching(/^The rest of an answer could not/)],
  ]);
  expect(words[0]).toMatchObject({
    expiresAt: DAY,
    claim: false,
    payload: { notice: true, replyTo: "om_1" },
  });
});

it("says nothing of what answered nobody, nor where the chat itself takes nothing", () => {
  expect(wordsAboutExpired([ended("a", { messages: [] })], 0)).toEqual([]);
  expect(wordsAboutDead(ended("a"), "permission", 0)).toEqual([]);
  expect(wordsAboutDead(ended("a"), undefined, 0)).toEqual([]);
  expect(wordsAboutDead(ended("a", { messages: [] }), "too_large", 0)).toEqual([]);
  expect(textsOf(wordsAboutDead(ended("a"), "too_large", 0))).toEqual([
    ["a", expect.stringContaining("this chat does not take it")],
  ]);
});
