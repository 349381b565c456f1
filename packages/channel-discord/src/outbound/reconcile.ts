import {
  getPartKey,
  type MediaPart,
  type OutboundPart,
  objectAt,
  objectsAt,
  type Payload,
  type PollPart,
  plainerPart,
  type ReconcileResult,
  reconciledFrom,
  type SendIntent,
  sendWindow,
  textAt,
} from "@signalbox/channel";
import type { DiscordAddress } from "../address.ts";
import type { DiscordApi } from "../api.ts";
import { listMessages } from "../history.ts";
import { getWrittenText } from "../inbound/content.ts";
import { limits } from "../limits.ts";
import { renderPoll } from "./poll.ts";
import { renderPart } from "./render.ts";
import type { Sender } from "./send.ts";

interface Own {
  readonly botId: string;
  readonly sender: Sender;
}

/** Looks for a message with an unknown outcome among the bot's messages in the channel. */
export async function reconcile(
  api: DiscordApi,
  { botId, sender }: Own,
  intent: SendIntent<DiscordAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { to, content } = intent;
  const key = getPartKey(intent.idempotencyKey, intent.part);
  const messages = await listMessages(api, to.channelId, { after: sendWindow(intent).start, signal });
  // A refused part may have been sent again in its plainer form.
  const forms = [content, plainerPart(content) ?? content];
  const own = messages.filter((message) => textAt(objectAt(message, "author"), "id") === botId);
  const match = own.find(
    (message) =>
      forms.some((form) => matchesPart(message, form)) &&
      !sender.isSentUnderOtherKey(textAt(message, "id") ?? "", key),
  );
  const messageId = match === undefined ? undefined : textAt(match, "id");
  // If the page is full, the message may be on the next one.
  return reconciledFrom(messageId, messages.length < limits.pageSize);
}

function matchesPart(message: Payload, content: OutboundPart): boolean {
  switch (content.type) {
    case "media":
      return matchesFile(message, content);
    case "poll":
      return matchesPoll(message, content);
    default:
      return matchesText(message, { ...renderPart(content) });
  }
}

function matchesPoll(message: Payload, part: PollPart): boolean {
  const poll = objectAt(message, "poll");
  const { question, answers } = renderPoll(part).poll;
  const offered = objectsAt(poll, "answers").map((answer) => textAt(objectAt(answer, "poll_media"), "text"));
  return (
    textAt(objectAt(poll, "question"), "text") === question.text &&
    offered.length === answers.length &&
    answers.every(({ poll_media: { text } }, index) => offered[index] === text)
  );
}

/** Compares the current text. A draft may have shown this text before a later change. */
function matchesText(message: Payload, rendered: Payload): boolean {
  return getWrittenText(message).trim() === getWrittenText(rendered).trim();
}

function matchesFile(message: Payload, { size, name }: MediaPart): boolean {
  return objectsAt(message, "attachments").some(
    (file) =>
      file["size"] === size && stripPunctuation(textAt(file, "filename") ?? "") === stripPunctuation(name),
  );
}

/** Discord changes special characters in file names. */
function stripPunctuation(name: string): string {
  return name.replace(/[^a-z0-9]/gi, "");
}
