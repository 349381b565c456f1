import { expect, it } from "vitest";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import { wordAboutDead, wordAboutExpired } from "./undelivered.ts";

const DAY = 86_400_000;

function ended(sent = 0): OutboxRow {
  return {
    id: "row",
    channel: "plain",
    account: "main",
    address: "a",
    key: "key",
    state: "expired",
    attempts: 1,
    partCount: 2,
    updatedAt: 0,
    payload: { parts: [], replyTo: "om_1" },
    receipts: Array.from({ length: sent }, (_, part) => ({ part, receipt: null })),
  };
}

const textOf = (row: OutboxInsert | undefined) => {
  const part = row?.payload.parts[0];
  return part?.type === "text" ? part.text : undefined;
};

it("tells people once of answers that came too late", () => {
  const word = wordAboutExpired([ended(), ended()], 0);
  expect(textOf(word)).toMatch(/^2 answers could not be delivered in time/);
  expect(word).toMatchObject({
    address: "a",
    expiresAt: DAY,
    claim: false,
    payload: { notice: true, replyTo: "om_1" },
  });
  expect(textOf(wordAboutExpired([ended(1)], 0))).toMatch(/^The rest of an answer could not/);
});

it("says so in the language of what was to be said", () => {
  const chinese = (row: OutboxRow): OutboxRow => ({
    ...row,
    payload: { ...row.payload, parts: [{ type: "text", text: "会议在下午三点。" }] },
  });
  expect(textOf(wordAboutExpired([ended(), chinese(ended())], 0))).toMatch(/^有 2 条回答没能及时送达/);
  expect(textOf(wordAboutExpired([chinese(ended(1))], 0))).toMatch(/^一条回答的其余部分没能及时送达/);
  expect(textOf(wordAboutDead(chinese(ended()), "too_large", 0))).toContain("这个聊天不接受它");
});

it("says nothing of what nobody waits for, nor where the chat itself takes nothing", () => {
  expect(wordAboutExpired([], 0)).toBeUndefined();
  expect(wordAboutDead(ended(), "permission", 0)).toBeUndefined();
  expect(wordAboutDead(ended(), undefined, 0)).toBeUndefined();
  expect(textOf(wordAboutDead(ended(), "too_large", 0))).toContain("this chat does not take it");
});
