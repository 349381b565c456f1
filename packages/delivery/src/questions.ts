import {
  type ActionEvent,
  type ButtonsPart,
  type Capabilities,
  deadline,
  isPayload,
  type Json,
  type Outbound,
  outboundOf,
  textAt,
} from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Destination, LeaseToken, Millis, OutboxRow, OutboxStore } from "./outbox.ts";
import { outboxRow, pendingRows } from "./rows.ts";

/** Something that a person is to decide. */
export interface Question {
  /** 4 to 32 characters of `[0-9A-Z]`. */
  readonly id: string;
  readonly text: string;
  /** From then on it is not put any more. */
  readonly expiresAt: Millis;
}

/** A message in the conversation that a question is put to. */
export interface AskedMessage extends Destination {
  /** Empty where there is none that could be answered. */
  readonly messageId: string;
}

export type Answer = "allow" | "deny";

export interface QuestionsOptions<Row extends OutboxRow = OutboxRow> {
  readonly outbox: Pick<OutboxStore<Row>, "enqueue" | "withKey">;
  readonly lease: LeaseToken;
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  readonly account: AccountLookup;
  /** Sends rows that were just added. */
  readonly deliver: (rows: readonly Row[]) => void;
}

/** Questions in the conversations that they came up in. A restart ends neither them nor their answers. */
export interface Questions {
  /** Nothing is sent to clients that read the session themselves. */
  put(question: Question, about: AskedMessage, sessionKey: string): Promise<void>;
  /**
   * Takes the buttons away from a question that is decided, and says how it was. Only what people see changes: where that
   * fails, a late click finds the question decided.
   */
  close(id: string, answer: Answer): Promise<void>;
}

/** How long a platform may take to change a question, in milliseconds. */
const CHANGE_MS = 15_000;

export function createQuestions<Row extends OutboxRow>(options: QuestionsOptions<Row>): Questions {
  const { outbox, lease, definition, account, deliver } = options;
  return {
    async put({ id, text, expiresAt }, about, sessionKey) {
      const channel = definition(about.channel, about.account);
      if (channel === undefined || channel.capabilities.readsSession === true) return;
      const { capabilities } = channel;
      const payload = withButtons(outboundOf(text, about.messageId, capabilities), id, capabilities);
      const row = outboxRow(about, payload, { expiresAt, claim: false });
      const rows = await outbox.enqueue([{ ...row, key: questionKey(id) }], { lease, sessionKey });
      deliver(pendingRows(rows));
    },
    async close(id, answer) {
      const row = await outbox.withKey(questionKey(id));
      if (row === undefined) return;
      const index = row.payload.parts.findIndex(({ type }) => type === "buttons");
      const part = row.payload.parts[index];
      const receipt = row.receipts.find((each) => each.part === index)?.receipt;
      const messageId = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
      const target = account(row.channel, row.account);
      if (part?.type !== "buttons" || messageId === undefined || target?.running.edit === undefined) return;
      const { capabilities, codec } = target.definition;
      const text = `${part.text}\n\n${answer === "deny" ? "Denied." : "Allowed."}`;
      const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
      const limit = deadline(CHANGE_MS);
      try {
        const closed: Outbound = { parts: [{ type, text }] };
        await target.running.edit(codec.decode(row.address), messageId, closed, limit.signal);
      } finally {
        limit.end();
      }
    },
  };
}

/** The key of a question's row. */
export function questionKey(id: string): string {
  return `ask-${id}`;
}

/** What a click on an answer to a question comes back as. */
const BUTTON = "approve";
const ID = /^[0-9A-Z]{4,32}$/;

/** Which question a click answers, and how; undefined for a click on anything else. */
export function answerIn({
  actionId,
  value,
}: Pick<ActionEvent, "actionId" | "value">): { readonly id: string; readonly answer: Answer } | undefined {
  if (actionId !== BUTTON) return undefined;
  const id = fieldOf(value, "id");
  const answer = fieldOf(value, "answer");
  // A platform gives a value back as it got it; what reads otherwise was not put there.
  if (id === undefined || !ID.test(id) || (answer !== "allow" && answer !== "deny")) return undefined;
  return { id, answer };
}

function fieldOf(value: Json | undefined, name: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return typeof field === "string" ? field : undefined;
}

/** The question with a button for each answer, under its last part, where the channel has buttons. */
function withButtons(question: Outbound, id: string, { cards }: Pick<Capabilities, "cards">): Outbound {
  const last = question.parts.at(-1);
  const buttons = buttonsFor(id);
  const bytes = Math.max(...buttons.map(({ value }) => Buffer.byteLength(JSON.stringify(value))));
  if (cards === undefined || cards.buttons < buttons.length || cards.callbackBytes < bytes) return question;
  if (last?.type !== "text" && last?.type !== "markdown") return question;
  return {
    ...question,
    parts: [...question.parts.slice(0, -1), { type: "buttons", text: last.text, buttons }],
  };
}

function buttonsFor(id: string): ButtonsPart["buttons"] {
  return [
    { id: BUTTON, label: "Allow", style: "primary", value: { id, answer: "allow" } },
    { id: BUTTON, label: "Deny", style: "danger", value: { id, answer: "deny" } },
  ];
}
