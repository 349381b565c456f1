import {
  type ChannelContext,
  createEditedDraft,
  type Draft,
  type DraftOptions,
  fitText,
  isChannelError,
  type OutboundPart,
} from "@signalbox/channel";
import { type MessageKey, messageId, parseMessageId, type SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { SlackConfig } from "../config.ts";
import type { Conversations } from "../conversations.ts";
import { getErrorCode } from "../errors.ts";
import type { History } from "../history.ts";
import type { Threads } from "../joined-threads.ts";
import { limits } from "../limits.ts";
import type { LostStreams } from "./lost-streams.ts";
import { findTimestamp } from "./reconcile.ts";
import { type Rendered, renderPart } from "./render.ts";
import type { Sender } from "./send.ts";
import { Stream } from "./stream.ts";

export interface DraftNeeds {
  readonly context: Pick<ChannelContext<SlackConfig>, "config" | "clock">;
  readonly api: SlackApi;
  readonly sender: Sender;
  readonly places: Conversations;
  readonly threads: Threads;
  readonly history: History;
  readonly lostStreams: LostStreams;
}

/**
 * Creates a draft. It uses Slack's stream if possible, and edits the message if the stream cannot show the text or is
 * about to expire.
 */
export function createDraft(needs: DraftNeeds, to: SlackAddress, options: DraftOptions): Draft {
  const { context, api, sender, history } = needs;
  const { clock } = context;
  const { signal } = options;
  const stream = new Stream({ api, clock, signal });
  let wasTried = false;
  const startedAt = clock.now();

  /** Streams exist only in threads. Outside of direct messages, Slack requires the recipient. */
  async function openStream(text: string | undefined): Promise<string | undefined> {
    if (!context.config.streams || to.thread === undefined || text === undefined) return undefined;
    const reader = await needs.places.author(options.replyTo ?? "");
    if (reader === undefined && !to.channel.startsWith("D")) return undefined;
    needs.lostStreams.forget(to);
    return stream.open(to, text, reader);
  }

  async function create(content: Rendered, key: string): Promise<string> {
    const earlier = wasTried ? await sentEarlier(key) : undefined;
    wasTried = true;
    if (earlier !== undefined) return earlier;
    const ts = await openStream(content.markdown).catch(async (error: unknown) => {
      const found = await startedAfterAll(error);
      if (found === undefined) throw error;
      return found;
    });
    if (ts === undefined) return sender.post(to, content, key, signal);
    await needs.threads.joined(to);
    return messageId({ channel: to.channel, ts });
  }

  /** Finds the message of an earlier attempt that received no response. */
  async function sentEarlier(key: string): Promise<string | undefined> {
    const { messages } = await history.page(to, { oldest: startedAt - 60_000 }, signal);
    const ts = findTimestamp(messages, key) ?? (await needs.lostStreams.find(to, signal));
    return ts === undefined ? undefined : messageId({ channel: to.channel, ts });
  }

  /**
   * Finds the message of a stream whose start received no response. If it cannot be found now, it is deleted after the
   * answer has been sent.
   */
  async function startedAfterAll(error: unknown): Promise<string | undefined> {
    if (!isChannelError(error) || error.code !== "unknown_outcome") return undefined;
    needs.lostStreams.add(to);
    return needs.lostStreams.find(to, signal).catch(() => undefined);
  }

  async function change(message: MessageKey, content: Rendered): Promise<void> {
    if (await stream.show(message, content.markdown)) return;
    try {
      await sender.change(message, content, signal);
    } catch (error) {
      // Another process opened the stream earlier.
      if (getErrorCode(error) !== "streaming_state_conflict") throw error;
      await stream.stop(message);
      await sender.change(message, content, signal);
    }
  }

  const draft = createEditedDraft<Rendered>(
    {
      snapshot: (text) => renderPart(createMarkdownPart(text)),
      render: renderPart,
      create: (content, { key }) => create(content, key),
      change: (id, content) => change(parseMessageId(to, id), content),
      remove: (id) => sender.remove(to, id, signal),
      sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
    },
    options,
  );
  return {
    get messageId() {
      return draft.messageId;
    },
    update: (text) => draft.update(text),
    async finalize(message, how) {
      const receipt = await draft.finalize(message, how);
      const [first] = receipt.parts;
      // If the final text has already been shown, the stream is still open.
      if (first !== undefined) await stream.end(parseMessageId(to, first.messageId));
      return receipt;
    },
    abort: () => draft.abort(),
  };
}

function createMarkdownPart(text: string): OutboundPart {
  return { type: "markdown", text: fitText(text, { max: limits.partLength, unit: "utf16" }) };
}
