import type { InboxRow } from "@signalbox/store";
import { describe, expect, it } from "vitest";
import type { ServiceStore } from "../messages/service-store.ts";
import { searchMessages } from "./message-list.ts";

/** Messages from the newest to the oldest. Every third one failed, and every second one is from Bob. */
const ROWS = Array.from({ length: 450 }, (_, place) => ({
  id: String(1_000 - place),
  receivedAt: place,
  channel: place % 5 === 0 ? "slack" : "telegram",
  account: "main",
  conversationId: "c",
  senderId: "5001",
  state: place % 3 === 0 ? "failed-reported" : "replied",
  payload: { event: { text: `Message ${place}`, sender: { name: place % 2 === 0 ? "Bob" : "Ann" } } },
  route: { agentId: "coder", sessionKey: "s" },
}));

type Rows = Awaited<ReturnType<ServiceStore["inbox"]["list"]>>;

const inbox: Pick<ServiceStore["inbox"], "list"> = {
  list: async ({ before, limit = 50 } = {}) => {
    const start = before === undefined ? 0 : ROWS.findIndex(({ id }) => id === before) + 1;
    return ROWS.slice(start, start + limit) as unknown as Rows;
  },
};
const pairing = { peers: async () => [] };
const outbox = { list: async () => [] };
const store = { inbox, outbox, pairing } as unknown as Pick<ServiceStore, "inbox" | "outbox" | "pairing">;
const texts = (rows: readonly { text: string }[]) => rows.map(({ text }) => text);

describe("the search of messages", () => {
  it("returns the latest messages with the name of the sender", async () => {
    const { messages, next } = await searchMessages(store, { limit: 2 });
    expect(messages).toMatchObject([
      { text: "Message 0", senderName: "Bob", agent: "coder" },
      { text: "Message 1", senderName: "Ann" },
    ]);
    expect(next).toBe("999");
  });

  it("returns every message once over all pages, and no next page after the last one", async () => {
    const seen: string[] = [];
    let before: string | undefined;
    do {
      const page = await searchMessages(store, { limit: 60, before });
      seen.push(...texts(page.messages));
      before = page.next;
    } while (before !== undefined);
    expect(seen).toEqual(ROWS.map(({ payload }) => payload.event.text));
  });

  it.each([
    [{ outcome: "failed" }, 150],
    [{ channel: "slack" }, 90],
    [{ agent: "writer" }, 0],
    [{ text: "BOB" }, 225],
    [{ text: "message 44", outcome: "answered" }, 8],
  ] as const)("finds only messages that match %o", async (query, count) => {
    const { messages } = await searchMessages(store, { ...query, limit: 500 });
    expect(messages).toHaveLength(count);
  });

  it("continues where the rows of one request end", async () => {
    const many = Array.from({ length: 5_000 }, (_, place) => ({
      ...(ROWS[0] as unknown as InboxRow),
      id: String(9_999 - place),
    }));
    const list = async ({ before, limit = 50 }: { before?: string; limit?: number } = {}) => {
      const start = before === undefined ? 0 : many.findIndex(({ id }) => id === before) + 1;
      return many.slice(start, start + limit) as unknown as Rows;
    };
    const { messages, next } = await searchMessages({ inbox: { list }, outbox, pairing } as never, {
      text: "nowhere",
    });
    expect(messages).toEqual([]);
    expect(next).toBe(String(9_999 - 3_999));
  });
});
