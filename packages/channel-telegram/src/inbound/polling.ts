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
import { type Albums, getAlbumId } from "./albums.ts";
import type { Receive } from "./receive.ts";
import { getUpdateId, updateTypes } from "./update.ts";

interface PollingOptions {
  readonly context: ChannelContext<TelegramConfig>;
  readonly api: TelegramApi;
  readonly identity: Identity;
  readonly albums: Albums;
  readonly receive: Receive;
}

/**
 * Fetches updates by long polling. Telegram stores them for a day and returns them until a request confirms them with a
 * higher offset. That offset is sent only after the host has accepted the updates, so nothing is lost in a crash. The
 * offset is not stored, so a new bot under the same account starts from the beginning.
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
  // Webhook and polling are mutually exclusive. Pending webhook updates are fetched by polling after that.
  await api.call({ what: "removing the webhook", write: false, signal }, (raw) =>
    raw.deleteWebhook({ drop_pending_updates: false }),
  );
  // Verifies the connection with a request that does not confirm anything.
  await fetchUpdates(options, undefined, 0, signal);
  const closed = new AbortController();
  const lost = poll(options, AbortSignal.any([closed.signal, context.signal]));
  return { lost, close: () => closed.abort() };
}

/** Polls until a request fails. After a rate limit, it only pauses. */
async function poll(options: PollingOptions, signal: AbortSignal): Promise<void> {
  const { clock, logger } = options.context;
  let offset: number | undefined;
  while (!signal.aborted) {
    try {
      const updates = await fetchUpdates(options, offset, limits.pollSeconds, signal);
      offset = await take(
        options,
        await fetchCompleteAlbums(options, updates, offset, signal),
        offset,
        signal,
      );
    } catch (error) {
      if (signal.aborted) return;
      if (!isChannelError(error) || error.code !== "rate_limited") {
        logger.warn("failed to fetch updates", { reason: reasonOf(error) });
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
      offset,
      limit: limits.updatesPerPoll,
      timeout: seconds,
      allowed_updates: updateTypes,
    }),
  );
  return Array.isArray(updates) ? updates.filter(isPayload) : [];
}

/** Repeats the request without confirming updates until no album in them grows anymore. */
async function fetchCompleteAlbums(
  options: PollingOptions,
  updates: readonly Payload[],
  offset: number | undefined,
  signal: AbortSignal,
): Promise<readonly Payload[]> {
  const parts = (among: readonly Payload[]) =>
    among.filter((update) => getAlbumId(update) !== undefined).length;
  let gathered = updates;
  let count = 0;
  for (let round = 0; round < limits.albumRounds && parts(gathered) > count; round += 1) {
    count = parts(gathered);
    await options.context.clock.delay(limits.albumMs, signal);
    gathered = await fetchUpdates(options, offset, 0, signal);
  }
  return gathered.length < limits.updatesPerPoll ? gathered : cutBeforeLastAlbum(gathered);
}

/**
 * If the page is full, cuts it before an album at its end. The rest of the album can be fetched once the updates before
 * it are confirmed.
 */
function cutBeforeLastAlbum(updates: readonly Payload[]): readonly Payload[] {
  const last = updates.at(-1);
  const album = last && getAlbumId(last);
  const start = album === undefined ? 0 : updates.findIndex((update) => getAlbumId(update) === album);
  return start > 0 ? updates.slice(0, start) : updates;
}

/** Emits updates in order and returns the offset after the last accepted one. */
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
    const id = getUpdateId(update);
    if (id === undefined || signal.aborted) continue;
    const together = arranged.get(update) ?? [];
    // The update belongs to an album that has already been emitted.
    const taking = together.length === 0 ? Promise.resolve("duplicate" as const) : receive(together);
    const handled = await taking.catch((error: unknown) => {
      logger.error("failed to accept an update; it will be fetched again", { reason: String(error) });
      return "rejected" as const;
    });
    if (handled === "rejected") {
      await clock.delay(limits.refusedUpdateMs, signal).catch(() => {});
      return next;
    }
    if (handled === "malformed") logger.warn("skipped an unreadable update", { update: id });
    next = id + 1;
  }
  return next;
}
