import type { ActionEvent, CommandEvent, MessageEvent } from "@signalbox/channel";
import { parseClick } from "./questions.ts";

/**
 * Converts a native command of a platform, or a click on a button of a question, to the message with the equivalent
 * text. The message is then authorized and handled like any other message from its sender.
 *
 * @returns `undefined` for a click on anything else
 */
export function toMessageEvent(event: CommandEvent | ActionEvent): MessageEvent | undefined {
  const text = event.type === "command" ? getCommandText(event) : getAnswerText(event);
  if (text === undefined) return undefined;
  const { eventId, channel, account, conversation, address, sender, timestamp, botId } = event;
  // A command or a button always addresses the bot.
  const addressed = event.type === "command" ? "mention" : "reply";
  return {
    type: "message",
    // A command has no message to reply to. A click has the message with the button.
    messageId: event.type === "command" ? "" : (event.messageId ?? ""),
    eventId,
    channel,
    account,
    conversation,
    address,
    sender,
    timestamp,
    text,
    botId,
    addressed: conversation.kind === "direct" ? "dm" : addressed,
    media: [],
    mentions: [],
  };
}

function getCommandText({ name, args }: CommandEvent): string {
  return `/${name} ${args}`.trim();
}

/** Each kind of question has a chat command of the same name. */
function getAnswerText(event: ActionEvent): string | undefined {
  const click = parseClick(event);
  return click && `/${click.kind} ${click.id} ${click.answer}`;
}
