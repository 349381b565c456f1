import { type ChannelContext, reasonOf, sendWindow, textAt } from "@signalbox/channel";
import type { MessageKey, SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { History } from "../history.ts";
import { limits } from "../limits.ts";
import { isOwnMessage, type People } from "../people.ts";
import { Stream } from "./stream.ts";

interface Needs {
  readonly api: SlackApi;
  readonly history: History;
  readonly people: People;
  readonly context: ChannelContext;
}

/**
 * Streams whose start request got no response. They carry no idempotency key, but they are the bot's only
 * messages in the thread that `chat.stopStream` still accepts.
 */
export class LostStreams {
  readonly #needs: Needs;
  /** Times at which streams were lost, by thread. */
  readonly #lost = new Map<string, number>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  add(to: SlackAddress): void {
    this.#lost.set(getThreadKey(to), this.#needs.context.clock.now());
  }

  /**
   * Forgets a lost stream before another one is opened in the same thread, because the two would be indistinguishable.
   */
  forget(to: SlackAddress): void {
    this.#lost.delete(getThreadKey(to));
  }

  /**
   * Stops the lost stream of a thread and returns the timestamp of its message, or `undefined` if the thread has no
   * lost stream.
   */
  async find(to: SlackAddress, signal: AbortSignal): Promise<string | undefined> {
    const { api, history, people, context } = this.#needs;
    const { clock } = context;
    const lostAt = this.#lost.get(getThreadKey(to));
    if (lostAt === undefined) return undefined;
    // Slack has already ended the stream, so its message can no longer be recognized.
    if (clock.now() > lostAt + limits.streamMs) {
      this.forget(to);
      return undefined;
    }
    const since = sendWindow({ attemptedAt: lostAt - limits.requestTimeoutMs }).start;
    const { messages } = await history.page(to, { oldest: since }, signal);
    const stream = new Stream({ api, clock, signal });
    const own = messages.filter((message) => isOwnMessage(message, people.known()));
    for (const message of own.toReversed()) {
      const ts = textAt(message, "ts");
      if (ts === undefined || !(await stream.stop({ channel: to.channel, ts }))) continue;
      this.forget(to);
      return ts;
    }
    return undefined;
  }

  /** Deletes the lost stream of a thread after the answer has been sent as another message. Never rejects. */
  async remove(to: SlackAddress, signal: AbortSignal): Promise<void> {
    const { api, context } = this.#needs;
    try {
      const ts = await this.find(to, signal);
      if (ts === undefined) return;
      const message: MessageKey = { channel: to.channel, ts };
      await api.call("chat.delete", { ...message }, { what: "deleting a message", write: true, signal });
    } catch (error) {
      context.logger.debug("failed to remove a lost stream", { reason: reasonOf(error) });
    }
  }
}

function getThreadKey({ channel, thread }: SlackAddress): string {
  return `${channel} ${thread}`;
}
