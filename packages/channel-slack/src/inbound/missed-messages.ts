import { type ChannelContext, isChannelError, type Payload, textAt } from "@signalbox/channel";
import { addressCodec, type SlackAddress } from "../address.ts";
import type { History } from "../history.ts";
import type { Envelope } from "./envelope.ts";

/** Maximum number of threads to read per conversation. Each one costs a request. */
const MAX_THREADS = 10;
/** Maximum number of pages per conversation or thread. */
const MAX_PAGES = 5;

interface Needs {
  readonly history: History;
  readonly clock: ChannelContext["clock"];
}

/**
 * Returns the messages of a conversation or thread since `since`, oldest first, in the form of their events. Replies in
 * a thread follow the message that started it.
 *
 * @param place an encoded address
 */
export async function missedMessages(
  { history, clock }: Needs,
  place: string,
  since: number,
  signal: AbortSignal,
): Promise<readonly Envelope[]> {
  const to = addressCodec.decode(place);
  const messages = await pagesOf(to);
  const begun = to.thread === undefined ? messages.filter(hasReplies).slice(-MAX_THREADS) : [];
  const replies: Payload[] = [];
  for (const root of begun) replies.push(...(await pagesOf({ ...to, thread: textAt(root, "ts") ?? "" })));
  const seen = new Set<unknown>();
  return [...messages, ...replies]
    .filter(({ ts }) => !seen.has(ts) && seen.add(ts))
    .map((message) => toEnvelope(message, to.channel));

  /** Slack lists a conversation from its end, but a thread from its beginning. */
  async function pagesOf(target: SlackAddress): Promise<readonly Payload[]> {
    const pages: (readonly Payload[])[] = [];
    let cursor: string | undefined;
    do {
      const page = await pageInTime(target, cursor);
      pages.push(page.messages);
      cursor = page.cursor;
    } while (cursor !== undefined && pages.length < MAX_PAGES);
    return (target.thread === undefined ? pages.toReversed() : pages).flat();
  }

  /** Waits if the app is rate limited. */
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

function toEnvelope(message: Payload, channel: string): Envelope {
  const event = { ...message, type: "message", channel };
  return { kind: "event", event, body: { type: "event_callback", event } };
}
