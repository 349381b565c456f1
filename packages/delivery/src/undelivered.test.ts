import { phrasesIn } from "@signalbox/phrases";
import { expect, it } from "vitest";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import { wordAboutDead, wordAboutExpired } from "./undelivered.ts";
import { phrasesOfRows } from "./words.ts";

const DAY = 86_400_000;
const english = phrasesIn("en");

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
  const word = wordAboutExpired([ended(), ended()], english, 0);
  expect(textOf(word)).toMatch(/^2 answers could not be delivered in time/);
  expect(word).toMatchObject({
    address: "a",
    expiresAt: DAY,
    claim: false,
    payload: { notice: true, replyTo: "om_1" },
  });
  expect(textOf(wordAboutExpired([ended(1)], english, 0))).toMatch(/^The rest of an answer could not/);
});

it("says so in the language that is set for the conversation, else in that of what was to be said", async () => {
  const inSession = (row: OutboxRow): OutboxRow => ({ ...row, sessionKey: "s" });
  const chinese = (row: OutboxRow): OutboxRow => ({
    ...row,
    payload: { ...row.payload, parts: [{ type: "text", text: "会议在下午三点。" }] },
  });
  const languageOf = async ({ sessionKey }: OutboxRow) => (sessionKey === "s" ? "en" : undefined);
  const words = async (rows: readonly OutboxRow[]) =>
    textOf(wordAboutExpired(rows, await phrasesOfRows(rows, languageOf), 0));
  expect(await words([ended(), chinese(ended())])).toMatch(/^有 2 条回答没能及时送达/);
  expect(await words([chinese(ended(1))])).toMatch(/^一条回答的其余部分没能及时送达/);
  expect(await words([inSession(chinese(ended(1)))])).toMatch(/^The rest of an answer could not/);
  const dead = chinese(ended());
  const phrases = await phrasesOfRows([dead], undefined);
  expect(textOf(wordAboutDead(dead, "too_large", phrases, 0))).toContain("这个聊天不接受它");
});

it("says nothing of what nobody waits for, nor where the chat itself takes nothing", () => {
  expect(wordAboutExpired([], english, 0)).toBeUndefined();
  expect(wordAboutDead(ended(), "permission", english, 0)).toBeUndefined();
  expect(wordAboutDead(ended(), undefined, english, 0)).toBeUndefined();
  expect(textOf(wordAboutDead(ended(), "too_large", english, 0))).toContain("this chat does not accept it");
});
