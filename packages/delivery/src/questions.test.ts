import type { Capabilities, Channel } from "@signalbox/channel";
import { expect, it } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import { createQuestions, type OutboxRow, parseClick, type Question } from "./index.ts";

const BUTTONS: Capabilities = { ...KEYED, cards: { buttons: 5, callbackBytes: 200 } };
const about = { channel: "plain", account: "main", address: "room", messageId: "m" };
const question: Question = {
  id: "ABC123",
  text: "May I?",
  kind: "approve",
  choices: [
    { label: "Allow", style: "primary", answer: "allow" },
    { label: "Deny", style: "danger", answer: "deny" },
  ],
  expiresAt: 9e15,
};

async function harness(capabilities: Capabilities, methods: Partial<Channel> = {}) {
  const { outbox, lease, markSent } = await openOutbox();
  const account = plainAccount(methods, { capabilities });
  const delivered: OutboxRow[] = [];
  const warned: object[] = [];
  const arrival = Promise.withResolvers<void>();
  let running = true;
  const questions = createQuestions({
    outbox,
    lease,
    account: () => (running ? account : undefined),
    definition: () => account.definition,
    delivery: { deliver: (rows) => void delivered.push(...rows), ended: () => arrival.promise },
    logger: { ...silentLogger, warn: (details) => warned.push(details) },
  });
  const leave = (): void => {
    running = false;
  };
  return { questions, delivered, warned, markSent, arrive: () => arrival.resolve(), leave };
}

it("has a button for each choice, whose click names the question", async () => {
  const { questions, delivered } = await harness(BUTTONS);
  await questions.put(question, about, "s");
  const [part] = delivered[0]?.payload.parts ?? [];
  if (part?.type !== "buttons") throw new Error("there are no buttons");
  expect(part.text).toBe("May I?");
  expect(part.buttons.map(({ id, value }) => parseClick({ actionId: id, value }))).toEqual([
    { kind: "approve", id: "ABC123", answer: "allow" },
    { kind: "approve", id: "ABC123", answer: "deny" },
  ]);
});

it.each([
  ["on a channel without buttons", KEYED],
  ["if the values are too large", { ...KEYED, cards: { buttons: 5, callbackBytes: 10 } }],
])("has no buttons %s", async (_where, capabilities) => {
  const { questions, delivered } = await harness(capabilities);
  await questions.put(question, about, "s");
  expect(delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("has a button for a free answer on a channel with forms, and reads the entered text", async () => {
  const inForms: Capabilities = { ...KEYED, cards: { buttons: 5, callbackBytes: 200, forms: true } };
  const asked = { ...question, kind: "answer", choices: [], ownWords: "Answer" } as const;
  const { questions, delivered } = await harness(inForms);
  await questions.put(asked, about, "s");
  const value = { id: "ABC123" };
  expect(delivered[0]?.payload.parts).toEqual([
    {
      type: "buttons",
      text: "May I?",
      buttons: [{ id: "answer", label: "Answer", opensForm: true, value }],
    },
  ]);
  expect(parseClick({ actionId: "answer", value, text: " to the sea\n" })).toEqual({
    kind: "answer",
    id: "ABC123",
    answer: "to the sea",
  });
  expect(parseClick({ actionId: "answer", value, text: " " })).toBeUndefined();
  expect(parseClick({ actionId: "approve", value, text: "allow" })).toBeUndefined();
  const without = await harness(BUTTONS);
  await without.questions.put(asked, about, "s");
  expect(without.delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("stays in one part if it fits above its buttons, and is split otherwise", async () => {
  const text = "May I run this? ".repeat(20).trim();
  const limited: Capabilities = { ...BUTTONS, text: { ...BUTTONS.text, max: 200 } };
  const cut = await harness(limited);
  await cut.questions.put({ ...question, text }, about, "s");
  expect(cut.delivered[0]?.payload.parts.map(({ type }) => type)).toEqual(["text", "buttons"]);
  const roomy = { ...limited, cards: { buttons: 5, callbackBytes: 200, textMax: 400 } };
  const whole = await harness(roomy);
  await whole.questions.put({ ...question, text }, about, "s");
  expect(whole.delivered[0]?.payload.parts).toMatchObject([{ type: "buttons", text }]);
  const without = await harness({ ...roomy, cards: { ...roomy.cards, callbackBytes: 10 } });
  await without.questions.put({ ...question, text }, about, "s");
  expect(without.delivered[0]?.payload.parts.map(({ type }) => type)).toEqual(["text", "text"]);
});

it("has another text if the channel cannot show the buttons", async () => {
  const asked = { ...question, withoutButtons: "May I? Write yes." };
  const withButtons = await harness(BUTTONS);
  await withButtons.questions.put(asked, about, "s");
  expect(withButtons.delivered[0]?.payload.parts).toMatchObject([{ type: "buttons", text: "May I?" }]);
  const without = await harness(KEYED);
  await without.questions.put(asked, about, "s");
  expect(without.delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I? Write yes." }]);
});

it("has no buttons without choices", async () => {
  const { questions, delivered } = await harness(BUTTONS);
  await questions.put({ ...question, kind: "answer", choices: [] }, about, "s");
  expect(delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("rejects clicks with values that it did not generate", () => {
  const value = { id: "ABC123", answer: "allow" };
  expect(parseClick({ actionId: "approve", value })).toEqual({ kind: "approve", ...value });
  expect(parseClick({ actionId: "answer", value: { id: "ABC123", answer: "2" } })).toEqual({
    kind: "answer",
    id: "ABC123",
    answer: "2",
  });
  const always = { ...value, answer: "allow-always" };
  expect(parseClick({ actionId: "approve", value: always })).toEqual({ kind: "approve", ...always });
  for (const wrong of [{ ...value, answer: "yes" }, { ...value, id: "../x" }, "allow", [value], null])
    expect(parseClick({ actionId: "approve", value: wrong })).toBeUndefined();
  expect(parseClick({ actionId: "other", value })).toBeUndefined();
});

it("replaces the buttons by the decision once it is made", async () => {
  const edits: unknown[] = [];
  const { markSent, questions } = await harness(BUTTONS, {
    edit: async (_to, messageId, { parts }) => void edits.push([messageId, parts]),
  });
  await questions.put(question, about, "s");
  await markSent("m9");
  await questions.close("ABC123", "Denied.");
  await questions.close("UNKNOWN", "Denied.");
  expect(edits).toEqual([["m9", [{ type: "text", text: "May I?\n\nDenied." }]]]);
});

it("replaces the buttons after the send if the decision is made while it is being sent", async () => {
  const edits: unknown[] = [];
  const { markSent, questions, arrive } = await harness(BUTTONS, {
    edit: async (_to, messageId, { parts }) => void edits.push([messageId, parts]),
  });
  await questions.put(question, about, "s");
  await questions.close("ABC123", "Allowed.");
  await markSent("m9");
  expect(edits).toEqual([]);
  arrive();
  await expect.poll(() => edits).toEqual([["m9", [{ type: "text", text: "May I?\n\nAllowed." }]]]);
});

it("puts the decision first if both together are too long", async () => {
  const edits: unknown[] = [];
  const { markSent, questions } = await harness(
    { ...BUTTONS, text: { ...BUTTONS.text, max: 16 } },
    { edit: async (_to, _messageId, { parts }) => void edits.push(parts) },
  );
  await questions.put({ ...question, text: "May I do it now?" }, about, "s");
  await markSent("m9");
  await questions.close("ABC123", "Denied.");
  expect(edits).toEqual([[{ type: "text", text: "Denied.\n\nMay I …" }]]);
});

it("logs that the decision could not be shown", async () => {
  const { markSent, questions, warned, leave } = await harness(BUTTONS, {
    edit: async () => Promise.reject(new Error("the message is gone")),
  });
  await questions.put(question, about, "s");
  await markSent("m9");
  await questions.close("ABC123", "Denied.");
  leave();
  await questions.close("ABC123", "Denied.");
  expect(warned).toEqual([
    { question: "ABC123", err: "the message is gone" },
    { question: "ABC123", err: "account plain/main is not running" },
  ]);
});
