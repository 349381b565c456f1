import {
  type ChannelContext,
  createEditedDraft,
  type Draft,
  type DraftOptions,
  fitText,
  isChannelError,
  isLasting,
  type OutboundPart,
  textAt,
} from "@signalbox/channel";
import { type MessageKey, messageId, messageIn, type SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { SlackConfig } from "../config.ts";
import { wordOf } from "../errors.ts";
import type { History } from "../history.ts";
import { limits } from "../limits.ts";
import type { Author, Places } from "../places.ts";
import { timestampOf } from "./reconcile.ts";
import { type Rendered, renderPart } from "./render.ts";
import type { Sender } from "./send.ts";

export interface DraftNeeds {
  readonly context: Pick<ChannelContext<SlackConfig>, "config" | "clock">;
  readonly api: SlackApi;
  readonly sender: Sender;
  readonly places: Places;
  readonly history: History;
}

/** A stream that is open. */
interface OpenStream {
  /** What was put into it. */
  text: string;
  /** Milliseconds since the epoch; from then on the message is edited. */
  readonly until: number;
}

/**
 * A message that grows: by Slack's own stream where it can be one, and by edits from the moment that the stream cannot
 * hold what is to be shown, or nears its end. Slack ends a stream by itself after some minutes; the message stays, and
 * what is finished never depends on the stream.
 */
export function createDraft(needs: DraftNeeds, to: SlackAddress, options: DraftOptions): Draft {
  const { context, api, sender, history } = needs;
  const { clock } = context;
  const { signal } = options;
  let stream: OpenStream | undefined;
  let wasTried = false;
  const startedAt = clock.now();

  /** Streams live in threads, and Slack wants to know for whom in all but direct conversations. */
  async function openStream(text: string | undefined): Promise<string | undefined> {
    if (!context.config.streams || to.thread === undefined || text === undefined) return undefined;
    const reader = await needs.places.author(options.replyTo ?? "");
    if (reader === undefined && !to.channel.startsWith("D")) return undefined;
    try {
      const args = { channel: to.channel, thread_ts: to.thread, markdown_text: text, ...recipient(reader) };
      const answer = await api.call("chat.startStream", args, {
        what: "opening a stream",
        write: true,
        signal,
      });
      stream = { text, until: clock.now() + limits.streamMs };
      return textAt(answer, "ts");
    } catch (error) {
      // Not every workspace and app has streams.
      if (isLasting(error)) return undefined;
      throw error;
    }
  }

  async function create(content: Rendered, key: string): Promise<string> {
    const earlier = wasTried ? await sentEarlier(key) : undefined;
    wasTried = true;
    if (earlier !== undefined) return earlier;
    const ts = await openStream(content.markdown);
    if (ts === undefined) return sender.post(to, content, key, signal);
    await needs.places.joined(to);
    return messageId({ channel: to.channel, ts });
  }

  /** The message of a try whose answer was lost. */
  async function sentEarlier(key: string): Promise<string | undefined> {
    const { messages } = await history.page(to, { oldest: startedAt - 60_000 }, signal);
    const ts = timestampOf(messages, key);
    return ts === undefined ? undefined : messageId({ channel: to.channel, ts });
  }

  async function change(message: MessageKey, content: Rendered): Promise<void> {
    if (stream !== undefined) {
      const more = moreFor(stream, content.markdown);
      if (more !== undefined && clock.now() < stream.until) {
        if (await append(message, stream, more)) return;
      } else await stop(message);
    }
    try {
      await sender.change(message, content, signal);
    } catch (error) {
      // Opened by an earlier process, which is the only one that knew.
      if (wordOf(error) !== "streaming_state_conflict") throw error;
      await stop(message);
      await sender.change(message, content, signal);
    }
  }

  /** Whether it went into the stream; Slack may have ended it. */
  async function append(message: MessageKey, open: OpenStream, more: string): Promise<boolean> {
    const isIn = await unlessEnded("chat.appendStream", { ...message, markdown_text: more });
    if (isIn) open.text += more;
    return isIn;
  }

  async function stop(message: MessageKey): Promise<void> {
    await unlessEnded("chat.stopStream", { ...message });
    stream = undefined;
  }

  async function unlessEnded(method: string, args: Readonly<Record<string, unknown>>): Promise<boolean> {
    try {
      await api.call(method, args, { what: "writing a stream", write: true, signal });
      return true;
    } catch (error) {
      // Ended, or full.
      if (isLasting(error) || (isChannelError(error) && error.code === "too_large")) {
        stream = undefined;
        return false;
      }
      // What did or did not go into it shows when the message is edited.
      if (stream !== undefined && isChannelError(error) && error.code === "unknown_outcome")
        stream = { ...stream, until: 0 };
      throw error;
    }
  }

  const snapshot = (text: string): Rendered => renderPart(markdownPart(text));
  const draft = createEditedDraft<Rendered>(
    {
      snapshot,
      render: renderPart,
      create: (content, { key }) => create(content, key),
      change: (id, content) => change(messageIn(to, id), content),
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
      // What was shown last may be all of it: the stream is still open then.
      if (stream !== undefined && first !== undefined) await stop(messageIn(to, first.messageId));
      return receipt;
    },
    abort: () => draft.abort(),
  };
}

function markdownPart(text: string): OutboundPart {
  return { type: "markdown", text: fitText(text, { max: limits.partLength, unit: "utf16" }) };
}

function recipient(reader: Author | undefined): Readonly<Record<string, string>> {
  return reader === undefined ? {} : { recipient_user_id: reader.userId, recipient_team_id: reader.teamId };
}

/** What a stream still needs to show a text; undefined where the text does not go on from what it shows. */
function moreFor({ text: shown }: OpenStream, text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith(shown) || text.length === shown.length) return undefined;
  return text.slice(shown.length);
}
