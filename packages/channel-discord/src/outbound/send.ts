import type { RawFile } from "@discordjs/rest";
import {
  ChannelError,
  isPayload,
  type Outbound,
  objectAt,
  type Payload,
  type PollResult,
  pathSegment,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
  theOnePart,
  unlessRefused,
} from "@signalbox/channel";
import { type DiscordAddress, isSnowflake } from "../address.ts";
import type { ApiCall, DiscordApi } from "../api.ts";
import { limits } from "../limits.ts";
import { fileOf } from "../media.ts";
import type { Interactions } from "./interactions.ts";
import { pollResultIn, type RenderedPoll, renderPoll } from "./poll.ts";
import { type Rendered, renderChange, renderPart, withoutText } from "./render.ts";

/** What goes out: messages, edits, reactions. Every method throws ChannelError and nothing else. */
export interface Sender {
  send(to: DiscordAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends one message; the same key again gives the same message. Resolves with its id. */
  post(to: DiscordAddress, content: Content, options: PostOptions): Promise<string>;
  /** Whether a message was sent under another key, as far as is remembered. */
  isAnothers(messageId: string, key: string): boolean;
  change(channelId: string, messageId: string, content: Rendered, signal: AbortSignal): Promise<void>;
  edit(channelId: string, messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(channelId: string, messageId: string, signal: AbortSignal): Promise<void>;
  closePoll(poll: OwnMessage, signal: AbortSignal): Promise<PollResult>;
  react(at: ReactionPlace, on: boolean, signal: AbortSignal): Promise<void>;
  typing(channelId: string, signal: AbortSignal): Promise<void>;
}

type Content = Partial<Rendered> | RenderedPoll;

interface PostOptions {
  readonly key: string;
  readonly replyTo: string | undefined;
  readonly file?: RawFile;
  readonly signal: AbortSignal;
}

interface MessagePlace {
  readonly channelId: string;
  readonly messageId: string;
}

interface OwnMessage extends MessagePlace {
  readonly botId: string;
}

interface ReactionPlace extends MessagePlace {
  readonly emoji: string;
}

export function createSender(api: DiscordApi, interactions: Interactions): Sender {
  /** Of the latest messages, by their ids. */
  const keys = new Map<string, string>();

  async function post(to: DiscordAddress, content: Content, options: PostOptions): Promise<string> {
    const messageId = await postMessage({ api, interactions }, to, content, options);
    const [oldest] = keys.size < limits.rememberedKeys ? [] : keys.keys();
    if (oldest !== undefined) keys.delete(oldest);
    keys.set(messageId, options.key);
    return messageId;
  }

  return {
    post,
    isAnothers: (messageId, key) => (keys.get(messageId) ?? key) !== key,
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key, replyTo }) => {
        const { signal } = options;
        if (part.type === "poll") return post(to, renderPoll(part), { key, replyTo, signal });
        if (part.type !== "media") return post(to, renderPart(part), { key, replyTo, signal });
        return post(to, withoutText, { key, replyTo, signal, file: await fileOf(part, options) });
      }),

    change: (channelId, messageId, content, signal) => change(api, { channelId, messageId }, content, signal),

    async edit(channelId, messageId, message, signal) {
      const part = theOnePart(message);
      const at = { channelId, messageId };
      const before = await lookUp(api, at, signal);
      await change(api, at, renderChange(part, before), signal);
    },

    async remove(channelId, messageId, signal) {
      const path = messagePath({ channelId, messageId });
      await api.call({ what: "taking a message back", method: "DELETE", path, signal });
    },

    closePoll: (poll, signal) => closePoll(api, poll, signal),

    async react({ emoji, ...at }, on, signal) {
      const path = `${messagePath(at)}/reactions/${pathSegment(emoji)}/@me` as const;
      const what = on ? "reacting" : "taking a reaction back";
      await api.call({ what, method: on ? "PUT" : "DELETE", path, signal });
    },

    async typing(channelId, signal) {
      const path = `/channels/${channelId}/typing` as const;
      await api.call({ what: "showing that an answer is written", method: "POST", path, signal });
    },
  };
}

async function postMessage(
  { api, interactions }: { readonly api: DiscordApi; readonly interactions: Interactions },
  to: DiscordAddress,
  content: Content,
  { key, replyTo, file, signal }: PostOptions,
): Promise<string> {
  // A command waits for one message, and takes no file or poll in place of words.
  if (to.interactionId !== undefined && file === undefined && !("poll" in content)) {
    const answer = await interactions.answer(to.interactionId, { key, body: content, signal });
    if (answer !== undefined) return idIn(answer);
  }
  const body = {
    ...content,
    nonce: key,
    enforce_nonce: true,
    ...(isSnowflake(replyTo)
      ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } }
      : {}),
    ...(file === undefined ? {} : { attachments: [{ id: 0, filename: file.name }] }),
  };
  const path = `/channels/${to.channelId}/messages` as const;
  const files = file === undefined ? {} : { files: [file] };
  return idIn(await api.call({ what: "sending a message", method: "POST", path, body, ...files, signal }));
}

async function change(
  api: DiscordApi,
  at: MessagePlace,
  content: Rendered,
  signal: AbortSignal,
): Promise<void> {
  const path = messagePath(at);
  // What is not named stays, and words beside components V2 are refused.
  const body = { ...content, content: content.content ?? null };
  await api.call({ what: "editing a message", method: "PATCH", path, body, signal });
}

/** A bot that may not read what it has written takes it for an ordinary message. */
async function lookUp(api: DiscordApi, at: MessagePlace, signal: AbortSignal): Promise<Payload> {
  const path = messagePath(at);
  const asked = api.call({ what: "looking a message up", method: "GET", path, signal });
  const message = await unlessRefused(asked, undefined);
  return isPayload(message) ? message : {};
}

async function closePoll(api: DiscordApi, poll: OwnMessage, signal: AbortSignal): Promise<PollResult> {
  const path = `/channels/${poll.channelId}/polls/${pathSegment(poll.messageId)}/expire` as const;
  const ended = api.call({ what: "ending a poll", method: "POST", path, signal });
  // One whose time is over is refused, and can be read all the same. So can those of others, which go on.
  const message = (await unlessRefused(ended, undefined)) ?? (await lookUp(api, poll, signal));
  if (!isPayload(message) || !isPayload(message["poll"]) || objectAt(message, "author")["id"] !== poll.botId)
    throw new ChannelError("invalid", "Discord: this message is no poll of the bot's");
  return pollResultIn(message);
}

function messagePath({ channelId, messageId }: MessagePlace): ApiCall["path"] {
  return `/channels/${channelId}/messages/${pathSegment(messageId)}`;
}

function idIn(answer: unknown): string {
  const id = isPayload(answer) ? textAt(answer, "id") : undefined;
  if (id === undefined)
    throw new ChannelError("unknown_outcome", "Discord: sent, but without an id in the answer");
  return id;
}
