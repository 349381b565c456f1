import {
  type MediaPart,
  type OutboundPart,
  objectAt,
  objectsAt,
  type Payload,
  type PollPart,
  partKey,
  type Reconciled,
  type SendIntent,
  textAt,
} from "@signalbox/channel";
import type { DiscordAddress } from "../address.ts";
import type { DiscordApi } from "../api.ts";
import { listMessages } from "../history.ts";
import { saidIn } from "../inbound/content.ts";
import { limits } from "../limits.ts";
import { renderPoll } from "./poll.ts";
import { renderPart } from "./render.ts";
import type { Sender } from "./send.ts";

/** How far Discord's clock may be from ours. */
const skewMs = 60_000;

interface Own {
  readonly botId: string;
  readonly sender: Pick<Sender, "isAnothers">;
}

/** Looks for a message whose outcome is open among those that the channel has of the bot. */
export async function reconcile(
  api: DiscordApi,
  { botId, sender }: Own,
  intent: SendIntent<DiscordAddress>,
  signal: AbortSignal,
): Promise<Reconciled> {
  const { to, content, attemptedAt } = intent;
  const key = partKey(intent.idempotencyKey, intent.part);
  const messages = await listMessages(api, to.channelId, { after: attemptedAt - skewMs, signal });
  const own = messages.filter((message) => textAt(objectAt(message, "author"), "id") === botId);
  const match = own.find(
    (message) => isMessageOf(message, content) && !sender.isAnothers(textAt(message, "id") ?? "", key),
  );
  const messageId = match === undefined ? undefined : textAt(match, "id");
  if (messageId !== undefined) return { outcome: "sent", messageId };
  // What is on a later page was not seen.
  return { outcome: messages.length >= limits.pageSize ? "unknown" : "not-sent" };
}

function isMessageOf(message: Payload, content: OutboundPart): boolean {
  switch (content.type) {
    case "media":
      return holdsFile(message, content);
    case "poll":
      return asksTheSame(message, content);
    default:
      return saysTheSame(message, { ...renderPart(content) });
  }
}

function asksTheSame(message: Payload, part: PollPart): boolean {
  const poll = objectAt(message, "poll");
  const { question, answers } = renderPoll(part).poll;
  const offered = objectsAt(poll, "answers").map((answer) => textAt(objectAt(answer, "poll_media"), "text"));
  return (
    textAt(objectAt(poll, "question"), "text") === question.text &&
    offered.length === answers.length &&
    answers.every(({ poll_media: { text } }, index) => offered[index] === text)
  );
}

/** A draft may have shown the same words on its way to others; as it reads now is what counts. */
function saysTheSame(message: Payload, rendered: Payload): boolean {
  return saidIn(message).trim() === saidIn(rendered).trim();
}

function holdsFile(message: Payload, { size, name }: MediaPart): boolean {
  return objectsAt(message, "attachments").some(
    (file) => file["size"] === size && letters(textAt(file, "filename") ?? "") === letters(name),
  );
}

/** What Discord leaves of a file's name. */
function letters(name: string): string {
  return name.replace(/[^a-z0-9]/gi, "");
}
