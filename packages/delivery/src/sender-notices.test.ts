import type { Outbound } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import { beforeEach, expect, it } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import type { OutboxInsert, OutboxRow } from "./outbox.ts";
import { getPhrases } from "./row-phrases.ts";
import { createExpiryNotice, createRejectionNotice } from "./sender-notices.ts";

const DAY = 86_400_000;
const english = phrasesIn("en");
let stored: OutboxRow;

beforeEach(async () => {
  const { outbox, lease } = await openOutbox();
  const payload: Outbound = { parts: [], replyTo: "om_1" };
  const row = { channel: "plain", account: "main", address: "a", partCount: 2, payload };
  const [added] = await outbox.enqueue([row], { lease });
  if (added === undefined) throw new Error("The outbox returned no row.");
  stored = added;
});

function ended(sent = 0): OutboxRow {
  return {
    ...stored,
    state: "expired",
    receipts: Array.from({ length: sent }, (_, part) => ({ part, receipt: null })),
  };
}

const textOf = (row: OutboxInsert | undefined) => {
  const part = row?.payload.parts[0];
  return part?.type === "text" ? part.text : undefined;
};

it("creates one notice about all answers that expired", () => {
  const notice = createExpiryNotice([ended(), ended()], english, 0);
  expect(textOf(notice)).toMatch(/^2 answers could not be delivered in time/);
  expect(notice).toMatchObject({
    address: "a",
    expiresAt: DAY,
    claim: false,
    payload: { notice: true, parts: [{ type: "text" }] },
  });
  expect(textOf(createExpiryNotice([ended(1)], english, 0))).toMatch(/^The rest of an answer could not/);
});

it("uses the configured language, or else the language of the answer", async () => {
  const inSession = (row: OutboxRow): OutboxRow => ({ ...row, sessionKey: "s" });
  const chinese = (row: OutboxRow): OutboxRow => ({
    ...row,
    payload: { ...row.payload, parts: [{ type: "text", text: "会议在下午三点。" }] },
  });
  const getLanguage = async ({ sessionKey }: OutboxRow) => (sessionKey === "s" ? "en" : undefined);
  const getText = async (rows: readonly OutboxRow[]) =>
    textOf(createExpiryNotice(rows, await getPhrases(rows, getLanguage), 0));
  expect(await getText([ended(), chinese(ended())])).toMatch(/^有 2 条回答未能及时送达/);
  expect(await getText([chinese(ended(1))])).toMatch(/^一条回答的其余部分未能及时送达/);
  expect(await getText([inSession(chinese(ended(1)))])).toMatch(/^The rest of an answer could not/);
  const dead = chinese(ended());
  const phrases = await getPhrases([dead], undefined);
  expect(textOf(createRejectionNotice(dead, "too_large", phrases, 0))).toContain(
    "有一条回复无法发送到此聊天",
  );
});

it("creates no notice if no one waits, or if the chat cannot be written to", () => {
  expect(createExpiryNotice([], english, 0)).toBeUndefined();
  expect(createRejectionNotice(ended(), "permission", english, 0)).toBeUndefined();
  expect(createRejectionNotice(ended(), undefined, english, 0)).toBeUndefined();
  expect(textOf(createRejectionNotice(ended(), "too_large", english, 0))).toContain(
    "this chat does not accept it",
  );
});
