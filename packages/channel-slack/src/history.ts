import {
  type ChannelContext,
  ChannelError,
  type HistoryMessage,
  isChannelError,
  objectAt,
  objectsAt,
  type Payload,
  TokenBuckets,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { messageId, type SlackAddress } from "./address.ts";
import type { SlackApi } from "./api.ts";
import type { SlackConfig } from "./config.ts";
import { readContent } from "./inbound/content.ts";
import { isOwn, type People } from "./people.ts";

/** A stretch of time in milliseconds since the epoch. */
interface Span {
  readonly oldest?: number;
  readonly latest?: number;
  /** Default: as many as Slack gives at once. */
  readonly size?: number;
  /** Where the page before it ended. */
  readonly cursor?: string | undefined;
}

/** One page of messages, oldest first. */
interface Page {
  readonly messages: readonly Payload[];
  /** There are more in the span. */
  readonly hasMore: boolean;
  /** Leads to them. */
  readonly cursor: string | undefined;
}

/** Reads conversations and threads, within what Slack allows this app. */
export interface History {
  /** @throws ChannelError, `rate_limited` where the app may not read now */
  page(to: SlackAddress, span: Span, signal: AbortSignal): Promise<Page>;
}

/** Internal apps read at tier 3; those given to others once a minute, and 15 messages. */
const tiers = {
  internal: { rule: { perSecond: 50 / 60, burst: 30 }, size: 200 },
  public: { rule: { perSecond: 1 / 60, burst: 1 }, size: 15 },
} as const;

/** Of one thread: a thousand messages. */
const mostPages = 5;

export function createHistory(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock">,
  api: SlackApi,
): History {
  const { rule, size: mostAtOnce } = tiers[context.config.distribution];
  const buckets = new TokenBuckets(context.clock.now);

  return {
    async page({ channel, thread }, { oldest, latest, cursor, size = mostAtOnce }, signal) {
      const method = thread === undefined ? "conversations.history" : "conversations.replies";
      const wait = buckets.take([{ key: method, rule }]);
      if (wait > 0) {
        throw new ChannelError("rate_limited", "Slack: reading a conversation: not so often", {
          retryAfterMs: wait,
          scope: "conversation",
        });
      }
      const args = {
        channel,
        ...(thread === undefined ? {} : { ts: thread }),
        ...(oldest === undefined ? {} : { oldest: seconds(oldest) }),
        ...(latest === undefined ? {} : { latest: seconds(latest) }),
        ...(cursor === undefined ? {} : { cursor }),
        limit: Math.min(Math.max(size, 1), mostAtOnce),
        include_all_metadata: true,
      };
      const answer = await api.call(method, args, { what: "reading a conversation", write: false, signal });
      const messages = objectsAt(answer, "messages").toSorted((a, b) => timeOf(a) - timeOf(b));
      const hasMore = answer["has_more"] === true;
      const next = textAt(objectAt(answer, "response_metadata"), "next_cursor");
      return { messages, hasMore, cursor: hasMore && next !== "" ? next : undefined };
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

function timeOf(message: Payload): number {
  return Number(textAt(message, "ts") ?? 0);
}

/** What was said in a conversation or thread, newest last. */
export async function readHistory(
  history: History,
  people: People,
  to: SlackAddress,
  options: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
): Promise<readonly HistoryMessage[]> {
  const { limit, before, signal } = options;
  const until = before === undefined ? {} : { latest: before };
  const messages =
    to.thread === undefined
      ? (await history.page(to, { ...until, size: limit }, signal)).messages
      : await wholeThread(history, to, until, signal);
  return messages.flatMap((message) => readItem(message, to.channel, people)).slice(-limit);
}

/** Slack lists a thread from its beginning: to know its end is to go through it, as far as the app may at once. */
async function wholeThread(
  history: History,
  to: SlackAddress,
  until: Pick<Span, "latest">,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const read = new Map<string | undefined, Payload>();
  let oldest: number | undefined;
  for (let page = 0; page < mostPages; page += 1) {
    const span = { ...until, ...(oldest === undefined ? {} : { oldest }) };
    const { messages, hasMore } = await history.page(to, span, signal).catch((error: unknown) => {
      if (page === 0 || !isChannelError(error) || error.code !== "rate_limited") throw error;
      return { messages: [], hasMore: false, cursor: undefined };
    });
    for (const message of messages) read.set(textAt(message, "ts"), message);
    if (!hasMore) break;
    oldest = timeAt(messages.at(-1) ?? {}, "ts") ?? oldest;
  }
  return [...read.values()];
}

function readItem(message: Payload, channel: string, people: People): readonly HistoryMessage[] {
  const self = people.known();
  const ts = textAt(message, "ts");
  const timestamp = timeAt(message, "ts");
  const bot = textAt(message, "bot_id");
  const id = textAt(message, "user") ?? bot;
  if (ts === undefined || timestamp === undefined || id === undefined) return [];
  const isSelf = isOwn(message, self);
  const { text } = readContent(message, () => undefined, self?.id ?? "");
  return [
    {
      messageId: messageId({ channel, ts }),
      timestamp,
      text,
      sender: { id, isBot: bot !== undefined || isSelf, isSelf },
    },
  ];
}
