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
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { Delivery } from "./delivery.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { Destination, LeaseToken, Millis, OutboxRow, OutboxStore } from "./outbox.ts";
import { isUnsent, outboxRow, pendingRows } from "./rows.ts";

/** Something that a person is to say. */
export interface Question {
  /** 4 to 32 characters of `[0-9A-Z]`. */
  readonly id: string;
  readonly text: string;
  /** What a click on one of its buttons is to be read as. */
  readonly kind: QuestionKind;
  /** A button for each, where the channel has so many. */
  readonly choices: readonly Choice[];
  /** The label of a button for an answer in other words, where the channel has forms. Absent: none. */
  readonly ownWords?: string;
  /** From then on it is not put any more. */
  readonly expiresAt: Millis;
}

/** `approve`: whether something may be done. `answer`: any other question. */
export type QuestionKind = "approve" | "answer";

export interface Choice {
  readonly label: string;
  /** What a click gives back: `allow` or `deny` to approve, the number of an answer else. */
  readonly answer: string;
  readonly style?: "primary" | "danger";
}

/** A message in the conversation that a question is put to. */
export interface AskedMessage extends Destination {
  /** Empty where there is none that could be answered. */
  readonly messageId: string;
}

export interface QuestionsOptions<Row extends OutboxRow = OutboxRow> {
  readonly outbox: Pick<OutboxStore<Row>, "enqueue" | "withKey">;
  readonly lease: LeaseToken;
  readonly definition: (channel: string, account: string) => DeliveryAccount["definition"] | undefined;
  readonly account: AccountLookup;
  readonly delivery: Pick<Delivery<Row>, "deliver" | "ended">;
  readonly logger: DeliveryLogger;
}

/** Questions in the conversations that they came up in. A restart ends neither them nor their answers. */
export interface Questions {
  /** Nothing is sent to clients that read the session themselves. */
  put(question: Question, about: AskedMessage, sessionKey: string): Promise<void>;
  /**
   * Takes the buttons away from a question that has its end, and says in `words` how it ended; from one that is still
   * on its way once it is there, which this does not wait for. Only what people see changes: where that fails, which
   * is logged, a late click finds that it has ended. Never rejects.
   */
  close(id: string, words: string): Promise<void>;
}

/** How long a platform may take to change a question, in milliseconds. */
const CHANGE_MS = 15_000;

export function createQuestions<Row extends OutboxRow>(options: QuestionsOptions<Row>): Questions {
  const { outbox, lease, definition, delivery } = options;
  return {
    async put(question, about, sessionKey) {
      const { id, expiresAt } = question;
      const channel = definition(about.channel, about.account);
      if (channel === undefined || channel.capabilities.readsSession === true) return;
      const { capabilities } = channel;
      const payload = outboundQuestion(question, about.messageId, capabilities);
      const row = outboxRow(about, payload, { expiresAt, claim: false });
      const rows = await outbox.enqueue([{ ...row, key: questionKey(id) }], { lease, sessionKey });
      delivery.deliver(pendingRows(rows));
    },
    async close(id, words) {
      const key = questionKey(id);
      const failed = (error: unknown): void =>
        options.logger.warn(
          { question: id, err: reasonOf(error) },
          "a question could not be marked as ended",
        );
      try {
        const row = await outbox.withKey(key);
        if (row === undefined) return;
        if (!isUnsent(row)) return await markEnded(options, row, words);
        const arrived = delivery.ended(row.id).then(() => outbox.withKey(key));
        arrived.then((there) => there && markEnded(options, there, words)).catch(failed);
      } catch (error) {
        failed(error);
      }
    },
  };
}

async function markEnded<Row extends OutboxRow>(
  { account }: QuestionsOptions<Row>,
  row: Row,
  words: string,
): Promise<void> {
  const index = row.payload.parts.findIndex(({ type }) => type === "buttons");
  const part = row.payload.parts[index];
  const receipt = row.receipts.find((each) => each.part === index)?.receipt;
  const messageId = isPayload(receipt) ? textAt(receipt, "messageId") : undefined;
  if (part?.type !== "buttons" || messageId === undefined) return;
  const target = account(row.channel, row.account);
  if (target === undefined) throw new Error("its account does not run");
  if (target.running.edit === undefined) return;
  const { capabilities, codec } = target.definition;
  const text = endedText(part.text, words, capabilities);
  const type = capabilities.text.markup === "markdown" ? "markdown" : "text";
  const limit = deadline(CHANGE_MS);
  try {
    const closed: Outbound = { parts: [{ type, text }] };
    await target.running.edit(codec.decode(row.address), messageId, closed, limit.signal);
  } finally {
    limit.end();
  }
}

/** The key of a question's row. */
export function questionKey(id: string): string {
  return `ask-${id}`;
}

/** What a click on a question of each kind may say. */
const ANSWERS: Readonly<Record<QuestionKind, RegExp>> = { approve: /^(allow|deny)$/, answer: /^[1-9]\d?$/ };
const KINDS: readonly QuestionKind[] = ["approve", "answer"];
const ID = /^[0-9A-Z]{4,32}$/;

/** A click on a button of a question. */
export interface Click {
  readonly kind: QuestionKind;
  readonly id: string;
  /** What the button stands for, or what was written into its form. */
  readonly answer: string;
}

/** Which question a click answers, and how; undefined for a click on anything else. */
export function answerIn({
  actionId,
  value,
  text,
}: Pick<ActionEvent, "actionId" | "value" | "text">): Click | undefined {
  const kind = KINDS.find((each) => each === actionId);
  const id = fieldOf(value, "id");
  const answer = fieldOf(value, "answer");
  const words = text?.trim() ?? "";
  // A platform gives a value back as it got it; what reads otherwise was not put there.
  if (kind === undefined || id === undefined || !ID.test(id)) return undefined;
  if (kind === "answer" && words !== "") return { kind, id, answer: words };
  return answer === undefined || !ANSWERS[kind].test(answer) ? undefined : { kind, id, answer };
}

function fieldOf(value: Json | undefined, name: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const field: unknown = Reflect.get(value, name);
  return typeof field === "string" ? field : undefined;
}

/** The question with a button for each choice, under its last part, where the channel has so many. */
function outboundQuestion(question: Question, replyTo: string, capabilities: Capabilities): Outbound {
  const { text } = question;
  const buttons = buttonsUnder(question, capabilities.cards);
  // Whole above its buttons, where so much fits there.
  const whole = createOutbound(text, replyTo, { ...capabilities, text: withButtons(capabilities) });
  const isWhole = buttons.length > 0 && whole.parts.length === 1;
  const outbound = isWhole ? whole : createOutbound(text, replyTo, capabilities);
  const last = outbound.parts.at(-1);
  if (buttons.length === 0 || (last?.type !== "text" && last?.type !== "markdown")) return outbound;
  return {
    ...outbound,
    parts: [...outbound.parts.slice(0, -1), { type: "buttons", text: last.text, buttons }],
  };
}

/** How it ended stands behind the question, and before one that is too long to be shown whole with it. */
function endedText(question: string, words: string, capabilities: Capabilities): string {
  const limit = withButtons(capabilities);
  const whole = `${question}\n\n${words}`;
  return fitText(whole, limit) === whole ? whole : fitText(`${words}\n\n${question}`, limit);
}

/** How much text a message with buttons holds. */
function withButtons({ text, cards }: Capabilities): TextCapability {
  return cards?.textMax === undefined ? text : { ...text, max: cards.textMax };
}

type Buttons = ButtonsPart["buttons"];

/** None where the channel has not so many, or cannot hold what is behind them. */
function buttonsUnder(question: Question, cards: Capabilities["cards"]): Buttons {
  if (cards === undefined) return [];
  const buttons = [...buttonsOf(question), ...(cards.forms === true ? formOf(question) : [])];
  const bytes = Math.max(...buttons.map(({ value }) => Buffer.byteLength(JSON.stringify(value))));
  return cards.buttons < buttons.length || cards.callbackBytes < bytes ? [] : buttons;
}

function buttonsOf({ id, kind, choices }: Question): Buttons {
  return choices.map(({ answer, ...shown }) => ({ id: kind, ...shown, value: { id, answer } }));
}

function formOf({ id, kind, ownWords }: Question): Buttons {
  return ownWords === undefined ? [] : [{ id: kind, label: ownWords, opensForm: true, value: { id } }];
}
