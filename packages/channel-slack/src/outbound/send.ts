import { createHash } from "node:crypto";
import {
  ChannelError,
  isChannelError,
  isLasting,
  type Outbound,
  type OutboundPart,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
  theOnePart,
} from "@signalbox/channel";
import { type MessageKey, messageId, messageIn, type SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import { nameOf } from "../emoji.ts";
import { wordOf } from "../errors.ts";
import { attach } from "../media.ts";
import type { Threads } from "../threads.ts";
import type { CommandAnswers } from "./command-answers.ts";
import { type Rendered, renderPart, renderWithoutBlocks } from "./render.ts";

/** What goes out: messages, edits, reactions. Every method throws ChannelError and nothing else. */
export interface Sender {
  send(to: SlackAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Sends one message; the key goes into its metadata. Resolves with its id. */
  post(to: SlackAddress, content: Rendered, key: string, signal: AbortSignal): Promise<string>;
  change(message: MessageKey, content: Rendered, signal: AbortSignal): Promise<void>;
  edit(to: SlackAddress, id: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove(to: SlackAddress, id: string, signal: AbortSignal): Promise<void>;
  react(to: SlackAddress, id: string, emoji: string, on: boolean, signal: AbortSignal): Promise<void>;
}

/** The type of the metadata that carries a message's key. */
const metadataType = "signalbox_message";

function metadataOf(key: string): Readonly<Record<string, unknown>> {
  return { event_type: metadataType, event_payload: { key } };
}

/** Slack refuses these blocks, or blocks at all. */
const refusedBlocks: readonly (string | undefined)[] = [
  "invalid_blocks",
  "invalid_blocks_format",
  "msg_blocks_too_long",
];

interface Needs {
  readonly api: SlackApi;
  readonly threads: Threads;
  readonly commands: CommandAnswers;
  readonly clock: Parameters<typeof attach>[0]["clock"];
}

export function createSender(needs: Needs): Sender {
  return {
    post: (to, content, key, signal) => post(needs, to, content, key, signal),
    change: (message, content, signal) => change(needs, message, content, signal),
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key }) => {
        if (part.type !== "media") return sendWords(needs, to, part, key, options.signal);
        const id = await attach(needs, to, part, options);
        await needs.threads.joined(to);
        return id;
      }),

    async edit(to, id, message, signal) {
      await withoutBlocksIfRefused(theOnePart(message), (content) =>
        change(needs, messageIn(to, id), content, signal),
      );
    },

    async remove(to, id, signal) {
      await needs.api.call(
        "chat.delete",
        { ...messageIn(to, id) },
        { what: "taking a message back", write: true, signal },
      );
    },

    async react(to, id, emoji, on, signal) {
      const name = nameOf(emoji);
      if (name === undefined)
        throw new ChannelError("unsupported", `Slack has no reaction ${emoji.slice(0, 20)}`);
      const { channel, ts } = messageIn(to, id);
      const method = on ? "reactions.add" : "reactions.remove";
      try {
        await needs.api.call(
          method,
          { channel, timestamp: ts, name },
          { what: "reacting", write: true, signal },
        );
      } catch (error) {
        if (wordOf(error) !== (on ? "already_reacted" : "no_reaction")) throw error;
      }
    },
  };
}

/** One part that is no file; where the bot may not write, as the answer that only whoever used a command sees. */
async function sendWords(
  needs: Needs,
  to: SlackAddress,
  part: OutboundPart,
  key: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    return await withoutBlocksIfRefused(part, (content) => post(needs, to, content, key, signal));
  } catch (error) {
    const isShutOut = isChannelError(error) && isLasting(error) && error.scope === "conversation";
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
    ...(blocks === undefined ? {} : { blocks }),
    ...(to.thread === undefined ? {} : { thread_ts: to.thread }),
    metadata: metadataOf(key),
    client_msg_id: uuidOf(key),
    // A link in an answer is fetched by nobody before somebody clicks on it.
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
    throw new ChannelError("unknown_outcome", "Slack: sent, but without an id in the answer");
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

/** The part as it is rendered first, and without blocks where Slack does not take those. */
async function withoutBlocksIfRefused<T>(
  part: OutboundPart,
  work: (content: Rendered) => Promise<T>,
): Promise<T> {
  try {
    return await work(renderPart(part));
  } catch (error) {
    if (!refusedBlocks.includes(wordOf(error)) || part.type === "buttons") throw error;
    return work(renderWithoutBlocks(part));
  }
}

/** A key in the form of an id that a client gives its messages. */
function uuidOf(key: string): string {
  const hex = createHash("sha256").update(key).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
