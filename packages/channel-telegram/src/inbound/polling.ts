import {
  type ChannelContext,
  type Connection,
  isChannelError,
  isPayload,
  type Payload,
  reasonOf,
  type SupervisedConnection,
  superviseConnection,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import type { Identity } from "../identity.ts";
import { limits } from "../limits.ts";
import { type Albums, albumOf } from "./albums.ts";
import type { Receive } from "./receive.ts";
import { updateIdOf, updateTypes } from "./update.ts";

interface PollingOptions {
  readonly context: ChannelContext<TelegramConfig>;
  readonly api: TelegramApi;
  readonly identity: Identity;
  readonly albums: Albums;
  readonly receive: Receive;
}

/**
 * Fetches updates by long polling. Telegram keeps them for a day and gives them out again until a request names a
 * higher offset, which is sent only for what the host has taken: nothing that came while this process was away or died
 * is missed, and no offset of another bot can be in the way.
 */
export function createPolling(options: PollingOptions): SupervisedConnection {
  const { clock, logger } = options.context;
  return superviseConnection({
    name: "Telegram",
    open: (signal) => open(options, signal),
    timing: { attemptMs: limits.connectMs },
    clock,
    logger,
  });
}

async function open(options: PollingOptions, signal: AbortSignal): Promise<Connection> {
  const { api, identity, context } = options;
  await identity.learn(signal);
  // A webhook and polling exclude each other; what waits for the webhook comes by polling then.
  await api.call({ what: "taking the webhook away", write: false, signal }, (raw) =>
    raw.deleteWebhook({ drop_pending_updates: false }),
  );
  // A connection that stands has been answered: nothing is confirmed by asking for what is there.
  await fetchUpdates(options, undefined, 0, signal);
  const closed = new AbortController();
  const lost = poll(options, AbortSignal.any([closed.signal, context.signal]));
  return { lost, close: () => closed.abort() };
}

/** Polls until a request fails; too many of them is no failure. */
async function poll(options: PollingOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options.context;
  let offset: number | undefined;
  while (!signal.aborted) {
    try {
      const updates = await fetchUpdates(options, offset, limits.pollSeconds, signal);
      offset = await take(options, await withWholeAlbums(options, updates, offset, signal), offset, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!isChannelError(error) || error.code !== "rate_limited") {
        logger.warn("updates cannot be fetched", { reason: reasonOf(error) });
        return;
      }
      await clock.delay(error.retryAfterMs ?? 0, signal).catch(() => {});
    }
  }
}

async function fetchUpdates(
  { api }: PollingOptions,
  offset: number | undefined,
  seconds: number,
  signal: AbortSignal,
) {
  const call = { what: "fetching updates", write: false, signal, timeoutMs: limits.pollTimeoutMs };
  const updates: unknown = await api.call(call, (raw) =>
    raw.getUpdates({
      ...(offset === undefined ? {} : { offset }),
      limit: limits.updatesPerPoll,
      timeout: seconds,
      allowed_updates: updateTypes,
    }),
  );
  return Array.isArray(updates) ? updates.filter(isPayload) : [];
}

/** Asks again, without confirming any, until no album among the updates has grown for a while. */
async function withWholeAlbums(
  options: PollingOptions,
  updates: readonly Payload[],
  offset: number | undefined,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const parts = (among: readonly Payload[]) => among.filter((update) => albumOf(update) !== undefined).length;
  let gathered = updates;
  let count = 0;
  for (let round = 0; round < limits.albumRounds && parts(gathered) > count; round += 1) {
    count = parts(gathered);
    await options.context.clock.delay(limits.albumMs, signal);
    gathered = await fetchUpdates(options, offset, 0, signal);
  }
  return gathered.length < limits.updatesPerPoll ? gathered : beforeLastAlbum(gathered);
}

/** A full page may end in the middle of an album, which comes whole once what is before it is confirmed. */
function beforeLastAlbum(updates: readonly Payload[]): readonly Payload[] {
  const last = updates.at(-1);
  const album = last && albumOf(last);
  const start = album === undefined ? 0 : updates.findIndex((update) => albumOf(update) === album);
  return start > 0 ? updates.slice(0, start) : updates;
}

/** Hands updates over in order; gives the offset behind the last one that was taken. */
async function take(
  { context, albums, receive }: PollingOptions,
  updates: readonly Payload[],
  offset: number | undefined,
  signal: AbortSignal,
) {
  const { clock, logger } = context;
  let next = offset;
  const arranged = await albums.arrange(updates);
  for (const update of updates) {
    const id = updateIdOf(update);
    if (id === undefined || signal.aborted) continue;
    const together = arranged.get(update) ?? [];
    // Part of an album that has been taken.
    const taking = together.length === 0 ? Promise.resolve("duplicate" as const) : receive(together);
    const handled = await taking.catch((error: unknown) => {
      logger.error("an update could not be accepted; it will be fetched again", { reason: String(error) });
      return "rejected" as const;
    });
    if (handled === "rejected") {
      await clock.delay(limits.refusedUpdateMs, signal).catch(() => {});
      return next;
    }
    if (handled === "malformed") logger.warn("an unreadable update was skipped", { update: id });
    next = id + 1;
  }
  return next;
}
