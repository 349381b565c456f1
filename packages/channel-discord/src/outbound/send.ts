import type { RawFile } from "@discordjs/rest";
import {
  ChannelError,
  catchRefusal,
  encodePathSegment,
  getOpusMs,
  getSinglePart,
  isChannelError,
  isOpus,
  isPayload,
  isRetryable,
  type Outbound,
  objectAt,
  type Payload,
  type PollResult,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
} from "@signalbox/channel";
import { type DiscordAddress, isSnowflake } from "../address.ts";
import type { ApiCall, DiscordApi } from "../api.ts";
import { limits } from "../limits.ts";
import { readFile } from "../media.ts";
import type { Interactions } from "./interactions.ts";
import { type RenderedPoll, readPollResult, renderPoll } from "./poll.ts";
import { FILE_MESSAGE, type Rendered, renderChange, renderPart, VOICE_FIELDS } from "./render.ts";

/** Sends, edits and deletes messages. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: DiscordAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends one message and returns its id. The same key returns the same message. */
  post(to: DiscordAddress, content: Content, options: PostOptions): Promise<string>;
  /** Returns true if a message is known to have been sent under a different key. */
  isSentUnderOtherKey(messageId: string, key: string): boolean;
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
  /** Shows the file as a voice message. */
  readonly recording?: Recording;
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

/** @param findParent returns the parent channel of a thread, if known */
export function createSender(
  api: DiscordApi,
  interactions: Interactions,
  findParent: (channelId: string) => Promise<string | undefined>,
): Sender {
  /** Keys of the most recent messages, by message id. */
  const keys = new Map<string, string>();

  async function post(to: DiscordAddress, content: Content, options: PostOptions): Promise<string> {
    const messageId = await postMessage({ api, interactions }, to, content, options);
    const [oldest] = keys.size < limits.rememberedKeys ? [] : keys.keys();
    if (oldest !== undefined) keys.delete(oldest);
    keys.set(messageId, options.key);
    return messageId;
  }

  /** Posts to the parent channel if the thread was deleted or locked. A reply cannot refer to the thread from there. */
  async function postOrInParent(to: DiscordAddress, content: Content, options: PostOptions): Promise<string> {
    try {
      return await post(to, content, options);
    } catch (error) {
      if (!isConversationRefusal(error)) throw error;
      const channelId = await findParent(to.channelId);
      if (channelId === undefined) throw error;
      return await post({ channelId }, content, { ...options, replyTo: undefined }).catch(
        (other: unknown) => {
          throw isRetryable(other) ? other : error;
        },
      );
    }
  }

  return {
    post,
    isSentUnderOtherKey: (messageId, key) => (keys.get(messageId) ?? key) !== key,
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key, replyTo }) => {
        const { signal } = options;
        if (part.type === "poll") return postOrInParent(to, renderPoll(part), { key, replyTo, signal });
        if (part.type !== "media") return postOrInParent(to, renderPart(part), { key, replyTo, signal });
        const file = await readFile(part, options);
        const asFile = () => postOrInParent(to, FILE_MESSAGE, { key, replyTo, signal, file });
        const recording = part.voice === true ? describeRecording(file) : undefined;
        if (recording === undefined) return asFile();
        try {
          return await post(to, VOICE_FIELDS, { key, replyTo, signal, file, recording });
        } catch (error) {
          if (isVoiceRefusal(error) || isConversationRefusal(error)) return asFile();
          throw error;
        }
      }),

    change: (channelId, messageId, content, signal) => change(api, { channelId, messageId }, content, signal),

    async edit(channelId, messageId, message, signal) {
      const part = getSinglePart(message);
      const at = { channelId, messageId };
      const before = await lookUp(api, at, signal);
      await change(api, at, renderChange(part, before), signal);
    },

    async remove(channelId, messageId, signal) {
      const path = getMessagePath({ channelId, messageId });
      await api.call({ what: "deleting a message", method: "DELETE", path, signal });
    },

    closePoll: (poll, signal) => closePoll(api, poll, signal),

    async react({ emoji, ...at }, on, signal) {
      const path = `${getMessagePath(at)}/reactions/${encodePathSegment(emoji)}/@me` as const;
      const what = on ? "reacting" : "removing a reaction";
      await api.call({ what, method: on ? "PUT" : "DELETE", path, signal });
    },

    async typing(channelId, signal) {
      const path = `/channels/${channelId}/typing` as const;
      await api.call({ what: "showing the typing indicator", method: "POST", path, signal });
    },
  };
}

/** The fields that Discord requires for a recording. */
interface Recording {
  readonly duration_secs: number;
  /** Up to 256 volumes as bytes, in base64. */
  readonly waveform: string;
}

/** A flat line. The volumes would require decoding the recording. */
const WAVEFORM = Buffer.alloc(64, 96).toString("base64");

/** Returns undefined if Discord cannot show the file as a voice message, because it is not Ogg Opus. */
function describeRecording({ data }: RawFile): Recording | undefined {
  if (!(data instanceof Uint8Array) || !isOpus(data)) return undefined;
  const ms = getOpusMs(data);
  return ms === undefined ? undefined : { duration_secs: ms / 1_000, waveform: WAVEFORM };
}

/**
 * Codes with which Discord refuses only the voice message: the bot may lack the permission for those, the channel may
 * not allow them, or the recording is not accepted.
 */
const VOICE_REFUSALS: readonly (string | undefined)[] = [
  "50013",
  "50173",
  "50160",
  "50161",
  "50162",
  "50035",
];

function isVoiceRefusal(error: unknown): boolean {
  return isChannelError(error) && VOICE_REFUSALS.includes(error.platformCode);
}

function isConversationRefusal(error: unknown): boolean {
  return isChannelError(error) && error.scope === "conversation" && !isRetryable(error);
}

async function postMessage(
  { api, interactions }: { readonly api: DiscordApi; readonly interactions: Interactions },
  to: DiscordAddress,
  content: Content,
  { key, replyTo, file, recording, signal }: PostOptions,
): Promise<string> {
  // The deferred response to a command is a single message without a file or poll.
  if (to.interactionId !== undefined && file === undefined && !("poll" in content)) {
    const answer = await interactions.answer(to.interactionId, { key, body: content, signal });
    if (answer !== undefined) return readMessageId(answer);
  }
  const body = {
    ...content,
    nonce: key,
    enforce_nonce: true,
    ...(isSnowflake(replyTo)
      ? { message_reference: { message_id: replyTo, fail_if_not_exists: false } }
      : {}),
    ...(file === undefined ? {} : { attachments: [{ id: 0, filename: file.name, ...recording }] }),
  };
  const path = `/channels/${to.channelId}/messages` as const;
  const files = file === undefined ? {} : { files: [file] };
  return readMessageId(
    await api.call({ what: "sending a message", method: "POST", path, body, ...files, signal }),
  );
}

async function change(
  api: DiscordApi,
  at: MessagePlace,
  content: Rendered,
  signal: AbortSignal,
): Promise<void> {
  const path = getMessagePath(at);
  // Omitted fields stay unchanged, and `content` is rejected in combination with components V2.
  const body = { ...content, content: content.content ?? null };
  await api.call({ what: "editing a message", method: "PATCH", path, body, signal });
}

/** If the bot cannot read the message, it is treated as an ordinary one. */
async function lookUp(api: DiscordApi, at: MessagePlace, signal: AbortSignal): Promise<Payload> {
  const path = getMessagePath(at);
  const asked = api.call({ what: "looking up a message", method: "GET", path, signal });
  const message = await catchRefusal(asked, undefined);
  return isPayload(message) ? message : {};
}

async function closePoll(api: DiscordApi, poll: OwnMessage, signal: AbortSignal): Promise<PollResult> {
  const path = `/channels/${poll.channelId}/polls/${encodePathSegment(poll.messageId)}/expire` as const;
  const ended = api.call({ what: "closing a poll", method: "POST", path, signal });
  // A poll that has expired cannot be ended, but it can still be read. The same applies to other people's polls, which
  // are checked below.
  const message = (await catchRefusal(ended, undefined)) ?? (await lookUp(api, poll, signal));
  if (!isPayload(message) || !isPayload(message["poll"]) || objectAt(message, "author")["id"] !== poll.botId)
    throw new ChannelError("invalid", "Discord: this message is not a poll of this bot");
  return readPollResult(message);
}

function getMessagePath({ channelId, messageId }: MessagePlace): ApiCall["path"] {
  return `/channels/${channelId}/messages/${encodePathSegment(messageId)}`;
}

function readMessageId(answer: unknown): string {
  const id = isPayload(answer) ? textAt(answer, "id") : undefined;
  if (id === undefined)
    throw new ChannelError("unknown_outcome", "Discord: the response contains no message id");
  return id;
}
