import { type ChannelContext, reasonOf, textAt } from "@signalbox/channel";
import type { MessageKey, SlackAddress } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { History } from "../history.ts";
import { limits } from "../limits.ts";
import { isOwn, type People } from "../people.ts";
import { skewMs } from "./reconcile.ts";
import { Stream } from "./stream.ts";

interface Needs {
  readonly api: SlackApi;
  readonly history: History;
  readonly people: Pick<People, "known">;
  readonly context: Pick<ChannelContext, "clock" | "logger">;
}

/**
 * Streams whose start got no answer. They carry no key, but are the only messages of the bot in their thread that
 * Slack still ends as a stream.
 */
export class LostStreams {
  readonly #needs: Needs;
  /** When each was lost, by its thread. */
  readonly #lost = new Map<string, number>();

  constructor(needs: Needs) {
    this.#needs = needs;
  }

  add(to: SlackAddress): void {
    this.#lost.set(placeOf(to), this.#needs.context.clock.now());
  }

  /** Another one is opened there, which could be taken for it. */
  forget(to: SlackAddress): void {
    this.#lost.delete(placeOf(to));
  }

  /** Ends the one of a thread, and gives the timestamp of its message. Undefined where there is none. */
  async find(to: SlackAddress, signal: AbortSignal): Promise<string | undefined> {
    const { api, history, people, context } = this.#needs;
    const { clock } = context;
    const lostAt = this.#lost.get(placeOf(to));
    if (lostAt === undefined) return undefined;
    // Slack itself has ended it by now, and it looks like every other message.
    if (clock.now() > lostAt + limits.streamMs) {
      this.forget(to);
      return undefined;
    }
    const since = lostAt - limits.requestTimeoutMs - skewMs;
    const { messages } = await history.page(to, { oldest: since }, signal);
    const stream = new Stream({ api, clock, signal });
    const own = messages.filter((message) => isOwn(message, people.known()));
    for (const message of own.toReversed()) {
      const ts = textAt(message, "ts");
      if (ts === undefined || !(await stream.stop({ channel: to.channel, ts }))) continue;
      this.forget(to);
      return ts;
    }
    return undefined;
  }

  /** Removes the one of a thread, beside which the answer stands by now. Never rejects: the answer is out. */
  async remove(to: SlackAddress, signal: AbortSignal): Promise<void> {
    const { api, context } = this.#needs;
    try {
      const ts = await this.find(to, signal);
      if (ts === undefined) return;
      const message: MessageKey = { channel: to.channel, ts };
      await api.call("chat.delete", { ...message }, { what: "taking a message back", write: true, signal });
    } catch (error) {
      context.logger.debug("a stream that was lost could not be removed", { reason: reasonOf(error) });
    }
  }
}

function placeOf({ channel, thread }: SlackAddress): string {
  return `${channel} ${thread}`;
}
