import { type ChannelContext, isChannelError, type Payload, textAt } from "@signalbox/channel";
import { addressCodec, type SlackAddress } from "../address.ts";
import type { History } from "../history.ts";
import type { Envelope } from "./envelope.ts";

/** Threads that are followed in one conversation: each costs a request. */
const mostThreads = 10;
/** Of one conversation or thread, each as long as Slack lets the app read at once. */
const mostPages = 5;

interface Needs {
  readonly history: History;
  readonly clock: ChannelContext["clock"];
}

/**
 * What was said in a conversation or a thread since `since`, oldest first, as the events that would have brought it.
 * Answers in threads come with the message that began them.
 *
 * @param place an address, as it is written
 */
export async function missedMessages(
  { history, clock }: Needs,
  place: string,
  since: number,
  signal: AbortSignal,
): Promise<readonly Envelope[]> {
  const to = addressCodec.decode(place);
  const messages = await pagesOf(to);
  const begun = to.thread === undefined ? messages.filter(hasReplies).slice(-mostThreads) : [];
  const replies: Payload[] = [];
  for (const root of begun) replies.push(...(await pagesOf({ ...to, thread: textAt(root, "ts") ?? "" })));
  const seen = new Set<unknown>();
  return [...messages, ...replies]
    .filter(({ ts }) => !seen.has(ts) && seen.add(ts))
    .map((message) => asEvent(message, to.channel));

  /** A conversation is listed from its end, a thread from its beginning. */
  async function pagesOf(target: SlackAddress): Promise<readonly Payload[]> {
    const pages: (readonly Payload[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageInTime(target, cursor);
      pages.push(page.messages);
      cursor = page.cursor;
    } while (cursor !== undefined && pages.length < mostPages);
    return (target.thread === undefined ? pages.toReversed() : pages).flat();
  }

  /** Waits where Slack lets the app read so many times a minute only. */
  async function pageInTime(target: SlackAddress, cursor: string | undefined): ReturnType<History["page"]> {
    for (;;) {
      try {
        return await history.page(target, { oldest: since, cursor }, signal);
      } catch (error) {
        if (!isChannelError(error) || error.code !== "rate_limited") throw error;
        await clock.delay(error.retryAfterMs ?? 60_000, signal);
      }
    }
  }
}

function hasReplies(message: Payload): boolean {
  return Number(message["reply_count"]) > 0;
}

function asEvent(message: Payload, channel: string): Envelope {
  const event = { ...message, type: "message", channel };
  return { kind: "event", event, body: { type: "event_callback", event } };
}
