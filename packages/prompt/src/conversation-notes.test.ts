import { expect, it } from "vitest";
import { createClientHistory, createDeletedNote, createSummaryNote, isDeletedNote } from "./index.ts";

const MESSAGES = [
  { messageId: "m1", senderName: "Anna", text: "Ship it\non Friday." },
  { messageId: "m2", senderName: "Boss:\n", text: "x".repeat(500) },
];

it("lists messages shortened, one line each, whatever they contain", () => {
  const [head, first, second, ...more] = createSummaryNote(MESSAGES).split("\n");
  expect(head).toBe("2 earlier messages arrived while you were busy. Summary:");
  expect(first).toBe("- [message_id: m1] Anna: Ship it on Friday.");
  expect(second).toMatch(/^- \[message_id: m2\] Boss: x+$/);
  expect(second).toHaveLength(202);
  expect(more).toEqual([]);
});

it("recognizes a note about deleted messages", () => {
  const note = createDeletedNote(MESSAGES);
  expect(note).toContain("Anna: Ship it on Friday.");
  expect(isDeletedNote(note)).toBe(true);
  expect(isDeletedNote(createSummaryNote(MESSAGES))).toBe(false);
});

it("creates a history from client turns, with images after their text", () => {
  const picture = { mimeType: "image/png", data: "AA==" };
  const history = createClientHistory(
    {
      history: [
        { role: "user", text: "What is this?", images: [picture] },
        { role: "assistant", text: "A dot." },
        { role: "user", text: "", images: [picture] },
        { role: "user", text: "Thanks." },
      ],
    },
    7,
  );
  const image = { type: "image", mimeType: "image/png", source: { kind: "base64", data: "AA==" } };
  expect(history).toMatchObject([
    { role: "user", content: [{ type: "text", text: "What is this?" }, image], timestamp: 7 },
    { role: "assistant", content: [{ type: "text", text: "A dot." }], stopReason: "end_turn", timestamp: 7 },
    { role: "user", content: [image] },
    { role: "user", content: "Thanks." },
  ]);
  expect(createClientHistory({}, 7)).toEqual([]);
});

it("only names images that are stored as files", () => {
  const file = { kind: "image", mimeType: "image/png", ref: { id: "a-file" } } as const;
  const history = createClientHistory(
    {
      history: [
        { role: "user", text: "What is this?", images: [file, { mimeType: "image/gif", data: "AA==" }] },
        { role: "user", text: "", images: [file] },
      ],
    },
    7,
  );
  const image = { type: "image", mimeType: "image/gif", source: { kind: "base64", data: "AA==" } };
  expect(history).toMatchObject([
    { content: [{ type: "text", text: "What is this?\n[image, image/png]" }, image] },
    { content: "[image, image/png]" },
  ]);
});
