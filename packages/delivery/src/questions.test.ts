import { type Capabilities, type Channel, systemClock } from "@signalbox/channel";
import { expect, it, vi } from "vitest";
import { KEYED, plainAccount, silentLogger } from "../test/plain.ts";
import { answerIn, createQuestions, type OutboxRow, type Question } from "./index.ts";
import { createMemoryOutbox } from "./testkit/index.ts";

const lease = { name: "gateway", epoch: 1 };
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

function harness(capabilities: Capabilities, methods: Partial<Channel> = {}) {
  const outbox = createMemoryOutbox(systemClock);
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
  return { outbox, questions, delivered, warned, arrive: () => arrival.resolve(), leave };
}

it("has a button for each answer, whose click says which question it answers", async () => {
  const { questions, delivered } = harness(BUTTONS);
  await questions.put(question, about, "s");
  const [part] = delivered[0]?.payload.parts ?? [];
  if (part?.type !== "buttons") throw new Error("there are no buttons");
  expect(part.text).toBe("May I?");
  expect(
    part.buttons.map(({ id, value }) =>
      answerIn({ actionId: id, ...(value === undefined ? {} : { value }) }),
    ),
  ).toEqual([
    { kind: "approve", id: "ABC123", answer: "allow" },
    { kind: "approve", id: "ABC123", answer: "deny" },
  ]);
});

it.each([
  ["where a channel has none", KEYED],
  ["where they do not fit", { ...KEYED, cards: { buttons: 5, callbackBytes: 10 } }],
])("stands without buttons %s", async (_where, capabilities) => {
  const { questions, delivered } = harness(capabilities);
  await questions.put(question, about, "s");
  expect(delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("has a button for other words where the channel has forms, and takes what was written there", async () => {
  const inForms: Capabilities = { ...KEYED, cards: { buttons: 5, callbackBytes: 200, forms: true } };
  const asked = { ...question, kind: "answer", choices: [], ownWords: "Answer" } as const;
  const { questions, delivered } = harness(inForms);
  await questions.put(asked, about, "s");
  const value = { id: "ABC123" };
  expect(delivered[0]?.payload.parts).toEqual([
    {
      type: "buttons",
      text: "May I?",
      buttons: [{ id: "answer", label: "Answer", opensForm: true, value }],
    },
  ]);
  expect(answerIn({ actionId: "answer", value, text: " to the sea\n" })).toEqual({
    kind: "answer",
    id: "ABC123",
    answer: "to the sea",
  });
  expect(answerIn({ actionId: "answer", value, text: " " })).toBeUndefined();
  expect(answerIn({ actionId: "approve", value, text: "allow" })).toBeUndefined();
  const without = harness(BUTTONS);
  await without.questions.put(asked, about, "s");
  expect(without.delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("stands whole above its buttons where so much fits there, and in parts elsewhere", async () => {
  const text = "May I run this? ".repeat(20).trim();
  const limited: Capabilities = { ...BUTTONS, text: { ...BUTTONS.text, max: 200 } };
  const cut = harness(limited);
  await cut.questions.put({ ...question, text }, about, "s");
  expect(cut.delivered[0]?.payload.parts.map(({ type }) => type)).toEqual(["text", "buttons"]);
  const roomy = { ...limited, cards: { buttons: 5, callbackBytes: 200, textMax: 400 } };
  const whole = harness(roomy);
  await whole.questions.put({ ...question, text }, about, "s");
  expect(whole.delivered[0]?.payload.parts).toMatchObject([{ type: "buttons", text }]);
  const without = harness({ ...roomy, cards: { ...roomy.cards, callbackBytes: 10 } });
  await without.questions.put({ ...question, text }, about, "s");
  expect(without.delivered[0]?.payload.parts.map(({ type }) => type)).toEqual(["text", "text"]);
});

it("stands without buttons where there is nothing to choose from", async () => {
  const { questions, delivered } = harness(BUTTONS);
  await questions.put({ ...question, kind: "answer", choices: [] }, about, "s");
  expect(delivered[0]?.payload.parts).toEqual([{ type: "text", text: "May I?" }]);
});

it("takes no click for an answer that it has not put there", () => {
  const value = { id: "ABC123", answer: "allow" };
  expect(answerIn({ actionId: "approve", value })).toEqual({ kind: "approve", ...value });
  expect(answerIn({ actionId: "answer", value: { id: "ABC123", answer: "2" } })).toEqual({
    kind: "answer",
    id: "ABC123",
    answer: "2",
  });
  for (const wrong of [{ ...value, answer: "yes" }, { ...value, id: "../x" }, "allow", [value], null])
    expect(answerIn({ actionId: "approve", value: wrong })).toBeUndefined();
  expect(answerIn({ actionId: "other", value })).toBeUndefined();
});

it("takes the buttons away once it is decided, and says how", async () => {
  const edits: unknown[] = [];
  const { outbox, questions } = harness(BUTTONS, {
    edit: async (_to, messageId, { parts }) => void edits.push([messageId, parts]),
  });
  await questions.put(question, about, "s");
  const { rows } = await outbox.claimDue({ lease, limit: 1 });
  await outbox.markSent(rows[0]?.id ?? "", lease, [{ part: 0, receipt: { messageId: "m9" } }]);
  await questions.close("ABC123", "Denied.");
  await questions.close("UNKNOWN", "Denied.");
  expect(edits).toEqual([["m9", [{ type: "text", text: "May I?\n\nDenied." }]]]);
});

it("takes them away once it is there where it was decided on its way, which nobody waits for", async () => {
  const edits: unknown[] = [];
  const { outbox, questions, arrive } = harness(BUTTONS, {
    edit: async (_to, messageId, { parts }) => void edits.push([messageId, parts]),
  });
  await questions.put(question, about, "s");
  await questions.close("ABC123", "Allowed.");
  const { rows } = await outbox.claimDue({ lease, limit: 1 });
  await outbox.markSent(rows[0]?.id ?? "", lease, [{ part: 0, receipt: { messageId: "m9" } }]);
  expect(edits).toEqual([]);
  arrive();
  await vi.waitFor(() => expect(edits).toEqual([["m9", [{ type: "text", text: "May I?\n\nAllowed." }]]]));
});

it("says first how it ended where both together are too long", async () => {
  const edits: unknown[] = [];
  const { outbox, questions } = harness(
    { ...BUTTONS, text: { ...BUTTONS.text, max: 16 } },
    { edit: async (_to, _messageId, { parts }) => void edits.push(parts) },
  );
  await questions.put({ ...question, text: "May I do it now?" }, about, "s");
  const { rows } = await outbox.claimDue({ lease, limit: 1 });
  await outbox.markSent(rows[0]?.id ?? "", lease, [{ part: 0, receipt: { messageId: "m9" } }]);
  await questions.close("ABC123", "Denied.");
  expect(edits).toEqual([[{ type: "text", text: "Denied.\n\nMay I …" }]]);
});

it("logs that its end could not be shown", async () => {
  const { outbox, questions, warned, leave } = harness(BUTTONS, {
    edit: async () => Promise.reject(new Error("the message is gone")),
  });
  await questions.put(question, about, "s");
  const { rows } = await outbox.claimDue({ lease, limit: 1 });
  await outbox.markSent(rows[0]?.id ?? "", lease, [{ part: 0, receipt: { messageId: "m9" } }]);
  await questions.close("ABC123", "Denied.");
  leave();
  await questions.close("ABC123", "Denied.");
  expect(warned).toEqual([
    { question: "ABC123", err: "the message is gone" },
    { question: "ABC123", err: "its account does not run" },
  ]);
});
