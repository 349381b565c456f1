import type {
  ActionEvent,
  ButtonsPart,
  Capabilities,
  CommandEvent,
  Json,
  MessageEvent,
  Outbound,
} from "@signalbox/channel";
import type { Approval } from "@signalbox/tools";

/** What a click on an answer to a question comes back as. */
const APPROVE = "approve";
const ID = /^[A-Z0-9]{4,32}$/;

/**
 * What somebody orders with a platform's own means, as the message that says the same: a command of the platform, or a
 * click on a button that asks for an approval. It is decided about as any message of theirs is. Undefined for a click
 * on anything else.
 */
export function asMessage(event: CommandEvent | ActionEvent): MessageEvent | undefined {
  const text = event.type === "command" ? commandText(event) : answerText(event);
  if (text === undefined) return undefined;
  const { eventId, channel, account, conversation, address, sender, timestamp } = event;
  // Whoever uses a command or a button of the bot speaks to it.
  const spoken = event.type === "command" ? "mention" : "reply";
  return {
    type: "message",
    // A command has no message that could be answered; a click has the one with the button.
    messageId: event.type === "command" ? "" : (event.messageId ?? ""),
    ...{ eventId, channel, account, conversation, address, sender, timestamp, text },
    ...(event.botId === undefined ? {} : { botId: event.botId }),
    addressed: conversation.kind === "direct" ? "dm" : spoken,
    media: [],
    mentions: [],
  };
}

function commandText({ name, args }: CommandEvent): string {
  return `/${name} ${args}`.trim();
}

function answerText({ actionId, value }: ActionEvent): string | undefined {
  if (actionId !== APPROVE) return undefined;
  const id = fieldOf(value, "id");
  const answer = fieldOf(value, "answer");
  // A platform gives a value back as it got it; what reads otherwise was not put there.
  if (id === undefined || !ID.test(id) || (answer !== "allow" && answer !== "deny")) return undefined;
  return `/approve ${id} ${answer}`;
}

function fieldOf(value: Json | undefined, name: string): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const found: unknown = Reflect.get(value, name);
  return typeof found === "string" ? found : undefined;
}

/** The question with a button for each answer, under its last part, where the channel has buttons. */
export function withButtons(
  question: Outbound,
  { id }: Pick<Approval, "id">,
  { cards }: Pick<Capabilities, "cards">,
): Outbound {
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
    { id: APPROVE, label: "Allow", style: "primary", value: { id, answer: "allow" } },
    { id: APPROVE, label: "Deny", style: "danger", value: { id, answer: "deny" } },
  ];
}
