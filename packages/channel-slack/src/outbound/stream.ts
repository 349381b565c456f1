import { type ChannelContext, isChannelError, isRetryable, textAt } from "@signalbox/channel";
import type { MessageKey, SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { Author } from "../conversations.ts";
import { limits } from "../limits.ts";

interface StreamOptions {
  readonly api: SlackApi;
  readonly clock: ChannelContext["clock"];
  readonly signal: AbortSignal;
}

/** An open stream. */
interface OpenStream {
  /** Text sent so far. */
  text: string;
  /** Milliseconds since the epoch. After this time the message is edited instead. */
  readonly until: number;
}

/**
 * A message that grows through Slack's streaming API. Slack ends a stream after a few minutes and keeps the message, so
 * an answer can be completed without the stream.
 */
export class Stream {
  readonly #options: StreamOptions;
  #stream: OpenStream | undefined;

  constructor(options: StreamOptions) {
    this.#options = options;
  }

  /** Opens a stream and returns the timestamp of its message, or `undefined` if streams are not available. */
  async open(to: SlackAddress, text: string, reader: Author | undefined): Promise<string | undefined> {
    const { api, clock, signal } = this.#options;
    const args = {
      channel: to.channel,
      thread_ts: to.thread,
      markdown_text: text,
      ...createRecipientFields(reader),
    };
    try {
      const answer = await api.call("chat.startStream", args, {
        what: "opening a stream",
        write: true,
        signal,
      });
      this.#stream = { text, until: clock.now() + limits.streamMs };
      return textAt(answer, "ts");
    } catch (error) {
      // Some workspaces and apps do not support streams.
      if (!isRetryable(error)) return undefined;
      throw error;
    }
  }

  /**
   * Appends the missing text.
   *
   * @returns false if the stream cannot show the text; the stream is then closed
   */
  async show(message: MessageKey, text: string | undefined): Promise<boolean> {
    const stream = this.#stream;
    if (stream === undefined) return false;
    const more = getAppendedText(stream, text);
    if (more === undefined || this.#options.clock.now() >= stream.until) {
      await this.stop(message);
      return false;
    }
    const isIn = await this.#unlessEnded("chat.appendStream", { ...message, markdown_text: more });
    if (isIn) stream.text += more;
    return isIn;
  }

  /** Closes the stream if this process opened it. */
  async end(message: MessageKey): Promise<void> {
    if (this.#stream !== undefined) await this.stop(message);
  }

  /**
   * Closes a stream, regardless of which process opened it.
   *
   * @returns false if there was no open stream
   */
  async stop(message: MessageKey): Promise<boolean> {
    const wasOpen = await this.#unlessEnded("chat.stopStream", { ...message });
    this.#stream = undefined;
    return wasOpen;
  }

  /**
   * Calls a stream method.
   *
   * @returns false if the stream has already ended
   */
  async #unlessEnded(method: string, args: Readonly<Record<string, unknown>>): Promise<boolean> {
    const { api, signal } = this.#options;
    try {
      await api.call(method, args, { what: "updating a stream", write: true, signal });
      return true;
    } catch (error) {
      // The stream has ended or is full.
      if (!isRetryable(error)) {
        this.#stream = undefined;
        return false;
      }
      // It is unknown which text arrived, so the next update edits the message.
      if (this.#stream !== undefined && isChannelError(error) && error.code === "unknown_outcome")
        this.#stream = { ...this.#stream, until: 0 };
      throw error;
    }
  }
}

function createRecipientFields(reader: Author | undefined): Readonly<Record<string, string>> {
  return reader === undefined ? {} : { recipient_user_id: reader.userId, recipient_team_id: reader.teamId };
}

/** Returns the text to append, or `undefined` if the new text does not continue the shown text. */
function getAppendedText({ text: shown }: OpenStream, text: string | undefined): string | undefined {
  if (text === undefined || !text.startsWith(shown) || text.length === shown.length) return undefined;
  return text.slice(shown.length);
}
