import { type ChannelContext, isChannelError, isLasting, textAt } from "@signalbox/channel";
import type { MessageKey, SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import { limits } from "../limits.ts";
import type { Author } from "../places.ts";

interface StreamOptions {
  readonly api: SlackApi;
  readonly clock: ChannelContext["clock"];
  readonly signal: AbortSignal;
}

/** A stream that is open. */
interface OpenStream {
  /** What was put into it. */
  text: string;
  /** Milliseconds since the epoch; from then on the message is edited. */
  readonly until: number;
}

/**
 * Slack's own way for a message to grow. Slack ends a stream by itself after some minutes; the message stays, and what
 * is finished never depends on the stream.
 */
export class Stream {
  readonly #options: StreamOptions;
  #stream: OpenStream | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Gives the timestamp of the message. Undefined where there can be no stream. */
  async open(to: SlackAddress, text: string, reader: Author | undefined): Promise<string | undefined> {
    const { api, clock, signal } = this.#options;
    const args = { channel: to.channel, thread_ts: to.thread, markdown_text: text, ...recipient(reader) };
    try {
      const answer = await api.call("chat.startStream", args, {
        what: "opening a stream",
        write: true,
        signal,
      });
      this.#stream = { text, until: clock.now() + limits.streamMs };
      return textAt(answer, "ts");
    } catch (error) {
      // Not every workspace and app has streams.
      if (isLasting(error)) return undefined;
      throw error;
    }
  }

  /** Whether it shows this text now; a stream that cannot is over. */
  async show(message: MessageKey, text: string | undefined): Promise<boolean> {
    const stream = this.#stream;
    if (stream === undefined) return false;
    const more = moreFor(stream, text);
    if (more === undefined || this.#options.clock.now() >= stream.until) {
      await this.stop(message);
      return false;
    }
    const isIn = await this.#unlessEnded("chat.appendStream", { ...message, markdown_text: more });
    if (isIn) stream.text += more;
    return isIn;
  }

  /** Ends the one that this process has open. */
  async end(message: MessageKey): Promise<void> {
    if (this.#stream !== undefined) await this.stop(message);
  }

  /** Ends it, whoever opened it. False where it was none, or none any more. */
  async stop(message: MessageKey): Promise<boolean> {
    const wasOpen = await this.#unlessEnded("chat.stopStream", { ...message });
    this.#stream = undefined;
    return wasOpen;
  }

  /** Whether Slack did it; it may have ended the stream. */
  async #unlessEnded(method: string, args: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { api, signal } = this.#options;
    try {
      await api.call(method, args, { what: "writing a stream", write: true, signal });
      return true;
    } catch (error) {
      // Ended, or full.
      if (isLasting(error) || (isChannelError(error) && error.code === "too_large")) {
        this.#stream = undefined;
        return false;
      }
      // What did or did not go into it shows when the message is edited.
      if (this.#stream !== undefined && isChannelError(error) && error.code === "unknown_outcome")
        this.#stream = { ...this.#stream, until: 0 };
      throw error;
    }
  }
}

function recipient(reader: Author | undefined): Readonly<Record<string, string>> {
  return reader === undefined ? {} : { recipient_user_id: reader.userId, recipient_team_id: reader.teamId };
}

/** What a stream still needs to show a text; undefined where the text does not go on from what it shows. */
function moreFor({ text: shown }: OpenStream, text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith(shown) || text.length === shown.length) return undefined;
  return text.slice(shown.length);
}
