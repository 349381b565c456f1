import {
  type ActionEvent,
  type ButtonsPart,
  type Capabilities,
  createOutbound,
  deadline,
  fitText,
  isPayload,
  type Json,
  type Outbound,
  reasonOf,
  type TextCapability,
  textAt,
} from "@signalbox/channel";
import type { LeaseToken, Logger } from "@signalbox/store/types";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Delivery } from "./delivery-types.ts";
import type { Destination, OutboxRow, OutboxStore } from "./outbox.ts";
import { createOutboxKey, createOutboxRow, getPendingRows, isUnsent } from "./rows.ts";

/** A question to a person. */
export interface Question {
  /** 4 to 32 characters of `[0-9A-Z]`. */
  readonly id: string;
  readonly text: string;
  /** Replaces `text` if the channel cannot show the buttons. Default: `text`. */
  readonly withoutButtons?: string;
  /** Determines the command that a click on one of the buttons represents. */
  readonly kind: QuestionKind;
  /** Shown as buttons if the channel supports that many. */
  readonly choices: readonly Choice[];
  /** Label of a button that opens a form for a free answer, on channels with forms. Default: no such button. */
  readonly ownWords?: string;
  /** Time in milliseconds since the epoch after which the question is not sent. */
  readonly expiresAt: number;
}

/** `approve`: a request for approval. `answer`: any other question. */
export type QuestionKind = "approve" | "answer";

export interface Choice {
  readonly label: string;
  /** The value of a click: `allow`, `allow-always` or `deny` for an approval, the number of the answer otherwise. */
  readonly answer: string;
  readonly style?: "primary" | "danger";
}

/** The message in a conversation that a question replies to. */
export interface QuestionMessage extends Destination {
  /** Empty if there is no message to reply to. */
  readonly messageId: string;
}

export interface QuestionsOptions {
  readonly outbox: Pick<OutboxStore, "enqueue" | "withKey">;
  readonly lease: LeaseToken;
  /** Returns the definition of a configured account, even if the account is not running. */
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  readonly account: AccountLookup;
  readonly delivery: Pick<Delivery, "deliver" | "ended">;
  readonly logger: Pick<Logger, "warn">;
}

/** Sends questions to the conversations that they concern. Questions and answers survive a restart. */
export interface Questions {
  /** Sends a question. Sends nothing to clients that read the session directly. */
  put(question: Question, about: QuestionMessage, sessionKey: string): Promise<void>;
  /**
   * Removes the buttons of a question that has ended and adds `text`, which describes the result. If the question is
   * still being sent, this happens afterwards, and `close` does not wait for it. Failures are only logged, since a late
   * click is rejected anyway. Never rejects.
   *
   * @param owners the owners (`channel:id`) who may have got the question in a direct message. Default: none
   */
  close(id: string, text: string, owners?: readonly string[]): Promise<void>;
}

/** Timeout for the edit of a question, in milliseconds. */
const EDIT_TIMEOUT_MS = 15_000;

export function createQuestions(options: QuestionsOptions): Questions {
  const { outbox, lease, definition, delivery } = options;
  return {
    async put(question, about, sessionKey) {
      const { id, expiresAt } = question;
      const channel = definition(about.channel, about.account);
      if (channel === undefined || channel.capabilities.readsSession === true) return;
      const payload = createQuestionMessage(question, about.messageId, channel.capabilities);
      const row = createOutboxRow(about, payload, { expiresAt, claim: false });
      const rows = await outbox.enqueue([{ ...row, key: getQuestionKey(id) }], { lease, sessionKey });
      delivery.deliver(getPendingRows(rows));
    },
    async close(id, text, owners = []) {
      const keys = [getQuestionKey(id), ...owners.map((owner) => getOwnerQuestionKey(id, owner))];
      await Promise.all(keys.map((key) => closeRow(options, id, key, text)));
    },
  };
}

async function closeRow(options: QuestionsOptions, id: string, key: string, text: string): Promise<void> {
  const { outbox, delivery, logger } = options;
  const onFailure = (error: unknown): void =>
    logger.warn({ question: id, err: reasonOf(error) }, "a question could not be marked as ended");
  try {
    const row = await outbox.withKey(key);
    if (row === undefined) return;
    if (!isUnsent(row)) return await markEnded(options, row, text);
    const sent = delivery.ended(row.id).then(() => outbox.withKey(key));
    sent.then((sentRow) => sentRow && markEnded(options, sentRow, text)).catch(onFailure);
  } catch (error) {
    onFailure(error);
  }
}

async function markEnded({ account }: QuestionsOptions, row: OutboxRow, text: string): Promise<void> {
  const index = row.payload.parts.findIndex(({ type }) => type === "buttons");
  const part = row.payload.parts[index];
  const receipt = row.receipts.find((each) => each.part === index)?.receipt;
  const messageId = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
  if (part?.type !== "buttons" || messageId === undefined) return;
  const target = account(row.channel, row.account);
  if (target === undefined) throw new Error(`account ${row.channel}/${row.account} is not running`);
  if (target.running.edit === undefined) return;
  const { capabilities, codec } = target.definition;
  const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
  const limit = deadline(EDIT_TIMEOUT_MS);
  try {
    const edited: Outbound = { parts: [{ type, text: createEndedText(part.text, text, capabilities) }] };
    await target.running.edit(codec.decode(row.address), messageId, edited, limit.signal);
  } finally {
    limit.end();
  }
}

/** Returns the outbox key of a question. */
export function getQuestionKey(id: string): string {
  return `ask-${id}`;
}

/** Returns the outbox key of a question that an owner (`channel:id`) gets in a direct message. */
export function getOwnerQuestionKey(id: string, owner: string): string {
  return createOutboxKey("ask", id, owner);
}

/** The valid values of a click for each kind of question. */
const ANSWERS: Readonly<Record<QuestionKind, RegExp>> = {
  approve: /^(allow|allow-always|deny)$/,
  answer: /^[1-9]\d?$/,
};
const KINDS: readonly QuestionKind[] = ["approve", "answer"];
const ID = /^[0-9A-Z]{4,32}$/;

/** A click on a button of a question. */
export interface Click {
  readonly kind: QuestionKind;
  readonly id: string;
  /** The value of the button, or the text entered in its form. */
  readonly answer: string;
}

/** Parses a click on a button of a question; `undefined` for a click on anything else. */
export function parseClick({
  actionId,
  value,
  text,
}: Pick<ActionEvent, "actionId" | "value" | "text">): Click | undefined {
  const kind = KINDS.find((each) => each === actionId);
  const id = getField(value, "id");
  const answer = getField(value, "answer");
  const entered = text?.trim() ?? "";
  // Ignore callback values that this package did not generate.
  if (kind === undefined || id === undefined || !ID.test(id)) return undefined;
  if (kind === "answer" && entered !== "") return { kind, id, answer: entered };
  return answer === undefined || !ANSWERS[kind].test(answer) ? undefined : { kind, id, answer };
}

function getField(value: Json | undefined, name: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return typeof field === "string" ? field : undefined;
}

/** Creates the message of a question, with buttons under its last part if the channel supports them. */
export function createQuestionMessage(
  question: Question,
  replyTo: string,
  capabilities: Capabilities,
): Outbound {
  const buttons = createButtons(question, capabilities.cards);
  const { text, withoutButtons = text } = question;
  if (buttons.length === 0) return createOutbound(withoutButtons, replyTo, capabilities);
  // Prefer a single part, because some channels allow more text above buttons than in a plain message.
  const whole = createOutbound(text, replyTo, { ...capabilities, text: getTextCapability(capabilities) });
  const isWhole = whole.parts.length === 1;
  const outbound = isWhole ? whole : createOutbound(text, replyTo, capabilities);
  const last = outbound.parts.at(-1);
  if (last?.type !== "text" && last?.type !== "markdown") return outbound;
  return {
    ...outbound,
    parts: [...outbound.parts.slice(0, -1), { type: "buttons", text: last.text, buttons }],
  };
}

/** Appends `text` to the question. If both do not fit, `text` comes first and the question is truncated. */
function createEndedText(question: string, text: string, capabilities: Capabilities): string {
  const limit = getTextCapability(capabilities);
  const whole = `${question}\n\n${text}`;
  return fitText(whole, limit) === whole ? whole : fitText(`${text}\n\n${question}`, limit);
}

/** Returns the text limits of a message with buttons. */
function getTextCapability({ text, cards }: Capabilities): TextCapability {
  return cards?.textMax === undefined ? text : { ...text, max: cards.textMax };
}

type Buttons = ButtonsPart["buttons"];

/** Returns no buttons if the channel does not support this many, or values of this size. */
function createButtons(question: Question, cards: Capabilities["cards"]): Buttons {
  if (cards === undefined) return [];
  const form = cards.forms === true ? createFormButton(question) : [];
  const buttons = [...createChoiceButtons(question), ...form];
  const bytes = Math.max(...buttons.map(({ value }) => Buffer.byteLength(JSON.stringify(value))));
  return cards.buttons < buttons.length || cards.callbackBytes < bytes ? [] : buttons;
}

function createChoiceButtons({ id, kind, choices }: Question): Buttons {
  return choices.map(({ answer, ...button }) => ({ id: kind, ...button, value: { id, answer } }));
}

function createFormButton({ id, kind, ownWords }: Question): Buttons {
  return ownWords === undefined ? [] : [{ id: kind, label: ownWords, opensForm: true, value: { id } }];
}
