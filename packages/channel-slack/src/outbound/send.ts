import { createHash } from "node:crypto";
import {
  ChannelError,
  getSinglePart,
  isChannelError,
  isRetryable,
  type Outbound,
  type OutboundPart,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
} from "@signalbox/channel";
import { type MessageKey, messageId, parseMessageId, type SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import { getSlackName } from "../emoji.ts";
import { getErrorCode } from "../errors.ts";
import type { Threads } from "../joined-threads.ts";
import { attach } from "../media.ts";
import type { CommandResponses } from "./command-responses.ts";
import { type Rendered, renderPart, renderWithoutBlocks } from "./render.ts";

/** Sends, edits and deletes messages. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: SlackAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends a message with the key in its metadata and returns the message id. */
  post(to: SlackAddress, content: Rendered, key: string, signal: AbortSignal): Promise<string>;
  change(message: MessageKey, content: Rendered, signal: AbortSignal): Promise<void>;
  edit(to: SlackAddress, id: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(to: SlackAddress, id: string, signal: AbortSignal): Promise<void>;
  react(to: SlackAddress, id: string, emoji: string, on: boolean, signal: AbortSignal): Promise<void>;
}

/** Event type of the metadata that contains the idempotency key. */
const METADATA_TYPE = "signalbox_message";

function createMetadata(key: string): Readonly<Record<string, unknown>> {
  return { event_type: METADATA_TYPE, event_payload: { key } };
}

/** Error codes with which Slack rejects blocks. */
const blockErrorCodes: readonly (string | undefined)[] = [
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
];

/** Error codes with which Slack rejects messages in a thread. */
const threadErrorCodes: readonly (string | undefined)[] = [
  "cannot_reply_to_message",
  "invalid_thread_ts",
  "restricted_action_non_threadable_channel",
  "restricted_action_thread_locked",
  "thread_not_found",
];

interface Needs {
  readonly api: SlackApi;
  readonly threads: Threads;
  readonly commands: CommandResponses;
  readonly clock: Parameters<typeof attach>[0]["clock"];
}

export function createSender(needs: Needs): Sender {
  return {
    post: (to, content, key, signal) => post(needs, to, content, key, signal),
    change: (message, content, signal) => change(needs, message, content, signal),
    send: (to, message, options) =>
      sendParts(message, options, ({ part, key }) =>
        withThreadFallback(to, async (place) => {
          if (part.type !== "media") return sendText(needs, place, part, key, options.signal);
          const id = await attach(needs, place, part, options);
          await needs.threads.joined(place);
          return id;
        }),
      ),

    async edit(to, id, message, signal) {
      await withBlockFallback(getSinglePart(message), (content) =>
        change(needs, parseMessageId(to, id), content, signal),
      );
    },

    async remove(to, id, signal) {
      await needs.api.call(
        "chat.delete",
        { ...parseMessageId(to, id) },
        { what: "deleting a message", write: true, signal },
      );
    },

    async react(to, id, emoji, on, signal) {
      const name = getSlackName(emoji);
      if (name === undefined)
        throw new ChannelError("unsupported", `Slack has no reaction ${emoji.slice(0, 20)}`);
      const { channel, ts } = parseMessageId(to, id);
      const method = on ? "reactions.add" : "reactions.remove";
      try {
        await needs.api.call(
          method,
          { channel, timestamp: ts, name },
          { what: "reacting", write: true, signal },
        );
      } catch (error) {
        if (getErrorCode(error) !== (on ? "already_reacted" : "no_reaction")) throw error;
      }
    },
  };
}

/**
 * Sends a part without a file. If the bot may not write in the conversation of a slash command, responds to the command
 * instead. Only its author sees such a response.
 */
async function sendText(
  needs: Needs,
  to: SlackAddress,
  part: OutboundPart,
  key: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await withBlockFallback(part, (content) => post(needs, to, content, key, signal));
  } catch (error) {
    const isShutOut = isChannelError(error) && !isRetryable(error) && error.scope === "conversation";
    if (!isShutOut || to.command === undefined) throw error;
    if (!(await needs.commands.answer(to.command, part, signal))) throw error;
    return messageId({ channel: to.channel, ts: key });
  }
}

async function post(
  { api, threads }: Needs,
  to: SlackAddress,
  content: Rendered,
  key: string,
  signal: AbortSignal,
): Promise<string> {
  const { text, blocks } = content;
  const args = {
    channel: to.channel,
    text,
    blocks,
    thread_ts: to.thread,
    metadata: createMetadata(key),
    client_msg_id: toUuid(key),
    // Unfurling would fetch links before anyone clicks on them.
    unfurl_links: false,
    unfurl_media: false,
  };
  const answer = await api.call("chat.postMessage", args, {
    what: "sending a message",
    write: true,
    signal,
  });
  const ts = textAt(answer, "ts");
  if (ts === undefined)
    throw new ChannelError(
      "unknown_outcome",
      "Slack: sending a message: the response contains no message id",
    );
  await threads.joined(to);
  return messageId({ channel: textAt(answer, "channel") ?? to.channel, ts });
}

async function change(
  { api }: Needs,
  message: MessageKey,
  content: Rendered,
  signal: AbortSignal,
): Promise<void> {
  const { text, blocks = [] } = content;
  await api.call(
    "chat.update",
    { ...message, text, blocks },
    { what: "editing a message", write: true, signal },
  );
}

/** Sends to the thread, or to its channel if the thread does not accept messages. */
async function withThreadFallback<T>(
  to: SlackAddress,
  work: (place: SlackAddress) => Promise<T>,
): Promise<T> {
  try {
    return await work(to);
  } catch (error) {
    if (to.thread === undefined || !threadErrorCodes.includes(getErrorCode(error))) throw error;
    return work({ ...to, thread: undefined });
  }
}

/** Sends the part with blocks, or without them if Slack rejects them. */
async function withBlockFallback<T>(part: OutboundPart, work: (content: Rendered) => Promise<T>): Promise<T> {
  try {
    return await work(renderPart(part));
  } catch (error) {
    if (!blockErrorCodes.includes(getErrorCode(error)) || part.type === "buttons") throw error;
    return work(renderWithoutBlocks(part));
  }
}

/** Derives a UUID from the key, because `client_msg_id` must be a UUID. */
function toUuid(key: string): string {
  const hex = createHash("sha256").update(key).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
