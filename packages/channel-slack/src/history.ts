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
import { isOwnMessage, type People } from "./people.ts";

/** A time range in milliseconds since the epoch. */
interface Span {
  readonly oldest?: number;
  readonly latest?: number;
  /** Default: the maximum page size. */
  readonly size?: number;
  /** `cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** One page of messages, oldest first. */
interface Page {
  readonly messages: readonly Payload[];
  /** The range contains more messages. */
  readonly hasMore: boolean;
  /** Cursor of the next page. */
  readonly cursor: string | undefined;
}

/** Reads conversations and threads, within Slack's rate limit for this app. */
export interface History {
  /** @throws ChannelError, for instance `rate_limited` if the app may not read now */
  page(to: SlackAddress, span: Span, signal: AbortSignal): Promise<Page>;
}

/** Internal apps read at tier 3. Distributed apps may read only 15 messages a minute. */
const tiers = {
  internal: { rule: { perSecond: 50 / 60, burst: 30 }, size: 200 },
  public: { rule: { perSecond: 1 / 60, burst: 1 }, size: 15 },
} as const;

/** Maximum number of pages of a thread: 1,000 messages for an internal app. */
const MAX_PAGES = 5;

export function createHistory(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock">,
  api: SlackApi,
): History {
  const { rule, size: maxSize } = tiers[context.config.distribution];
  const buckets = new TokenBuckets(context.clock.now);

  return {
    async page({ channel, thread }, { oldest, latest, cursor, size = maxSize }, signal) {
      const method = thread === undefined ? "conversations.history" : "conversations.replies";
      const wait = buckets.take([{ key: method, rule }]);
      if (wait > 0) {
        throw new ChannelError(
          "rate_limited",
          "Slack: reading a conversation: rate limit of this app reached",
          {
            retryAfterMs: wait,
            scope: "conversation",
          },
        );
      }
      const args = {
        channel,
        ts: thread,
        oldest: oldest === undefined ? undefined : seconds(oldest),
        latest: latest === undefined ? undefined : seconds(latest),
        cursor,
        limit: Math.min(Math.max(size, 1), maxSize),
        include_all_metadata: true,
      };
      const answer = await api.call(method, args, { what: "reading a conversation", write: false, signal });
      const messages = objectsAt(answer, "messages").toSorted((a, b) => getTime(a) - getTime(b));
      const hasMore = answer["has_more"] === true;
      const next = textAt(objectAt(answer, "response_metadata"), "next_cursor");
      return { messages, hasMore, cursor: hasMore && next !== "" ? next : undefined };
    },
  };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(6);
}

function getTime(message: Payload): number {
  return Number(textAt(message, "ts") ?? 0);
}

/** Returns messages of a conversation or thread, oldest first. */
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
      : await readThread(history, to, until, signal);
  return messages.flatMap((message) => readHistoryMessage(message, to.channel, people)).slice(-limit);
}

/**
 * Reads a thread page by page up to its end, because Slack lists threads from the beginning. Stops early if the app is
 * rate limited.
 */
async function readThread(
  history: History,
  to: SlackAddress,
  until: Span,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const read = new Map<string | undefined, Payload>();
  let oldest: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const span = { ...until, oldest };
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

function readHistoryMessage(message: Payload, channel: string, people: People): readonly HistoryMessage[] {
  const self = people.known();
  const ts = textAt(message, "ts");
  const timestamp = timeAt(message, "ts");
  const bot = textAt(message, "bot_id");
  const id = textAt(message, "user") ?? bot;
  if (ts === undefined || timestamp === undefined || id === undefined) return [];
  const isSelf = isOwnMessage(message, self);
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
