import type { ActionEvent, CommandEvent, MessageEvent } from "@signalbox/channel";
import { answerIn } from "./questions.ts";

/**
 * A platform's own command, or a click on a button of a question, as the message that says the same. It is decided like
 * any message of its sender. Undefined for a click on anything else.
 */
export function orderAsMessage(event: CommandEvent | ActionEvent): MessageEvent | undefined {
  const text = event.type === "command" ? commandText(event) : answerText(event);
  if (text === undefined) return undefined;
  const { eventId, channel, account, conversation, address, sender, timestamp } = event;
  // Whoever uses a command or a button of the bot speaks to it.
  const spoken = event.type === "command" ? "mention" : "reply";
  return {
    type: "message",
    // A command has no message that could be answered; a click has the one with the button.
    messageId: event.type === "command" ? "" : (event.messageId ?? ""),
    eventId,
    channel,
    account,
    conversation,
    address,
    sender,
    timestamp,
    text,
    ...(event.botId === undefined ? {} : { botId: event.botId }),
    addressed: conversation.kind === "direct" ? "dm" : spoken,
    media: [],
    mentions: [],
  };
}

function commandText({ name, args }: CommandEvent): string {
  return `/${name} ${args}`.trim();
}

function answerText(event: ActionEvent): string | undefined {
  const click = answerIn(event);
  // Each kind of question has a command of its name.
  return click && `/${click.kind} ${click.id} ${click.answer}`;
}
