import { setTimeout as delay } from "node:timers/promises";
import {
  type ChannelError,
  isChannelError,
  type PartReceipt,
  type Receipt,
  type SendOptions,
} from "@signalbox/channel";
import { type LeaseToken, type OutboxRow, StoreError } from "@signalbox/store";
import type { Account } from "../channels.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import { backoffMs, createBackoff } from "./backoff.ts";
import { finishDraft, type Send } from "./draft-end.ts";
import { sendSayingWhatFails } from "./media-out.ts";
import { placeOf, repeatable } from "./outbox-row.ts";
import { createPatience, type PartLimit } from "./patience.ts";
import { createRates } from "./rate.ts";
import { type GatewayBodies, type GatewayStore, isPassing } from "./stored.ts";
import { wordAboutDead, wordsAboutExpired } from "./undelivered.ts";

type Row = OutboxRow<GatewayBodies>;

/** A row being sent. `doubtful`: its first open part may be at the platform already. */
type Sending = Row & { readonly doubtful?: boolean };

export interface OutboxOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly account: (channel: string, account: string) => Account | undefined;
  /** Whether the configuration names the account, be it that it does not run just now. */
  readonly configured: (channel: string, account: string) => boolean;
  /** The bytes of attachments. */
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  readonly logger: Logger;
  readonly now: () => number;
  readonly random: () => number;
  /** Told what became of a reply. */
  readonly onSettled: (
    row: Row,
    state: "sent" | "retry" | "dead" | "uncertain" | "expired",
    detail: string,
  ) => void;
}

/** Sends what is in the outbox, in order for each address. */
export interface Deliverer {
  /** Sends rows that were just committed as ours. */
  deliver(rows: readonly Row[]): void;
  /** Looks for rows that are due: at the start, and after rows were added that nobody claimed. */
  wake(): void;
  /** Takes no more rows; resolves when what is under way has ended, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
  inFlight(): number;
}

const CLAIM = 64;
/** How long a platform's refusal of credentials is waited out, since somebody may mend them. */
const AUTH_RETRY_MS = 60_000;
const NO_ACCOUNT_MS = 15_000;
const LONGEST_SLEEP_MS = 60_000;

export function createDeliverer(options: OutboxOptions): Deliverer {
  const { store, lease, logger, now } = options;
  const stopping = new AbortController();
  const rates = createRates(now, stopping.signal);
  /** Fires first: nobody waits for a next attempt any more. */
  const draining = new AbortController();
  const patience = createPatience();
  const backoff = createBackoff(options.random);
  const inFlight = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;
  let claiming = false;
  let again = false;
  /** Addresses at which a row may wait behind the one being sent, so that the store is not asked after every send. */
  const blocked = new Set<string>();

  const track = (work: Promise<void>): void => {
    inFlight.add(work);
    void work.finally(() => inFlight.delete(work));
  };

  const onSettled: OutboxOptions["onSettled"] = (row, state, detail) => {
    if (state !== "retry") for (const kept of [patience, backoff]) kept.forget(row.id);
    options.onSettled(row, state, detail);
  };

  /** What has happened at the platform is noted however long the store fails: to send again is no way out. */
  const noted = async (write: () => Promise<void>): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write();
      } catch (error) {
        if (!isPassing(error) || draining.signal.aborted) throw error;
        logger.warn(
          { err: messageOf(error) },
          "the state of a reply could not be written; it is tried again",
        );
        await delay(backoffMs(attempt, options.random), undefined, { signal: draining.signal }).catch(() => {
          throw error;
        });
      }
    }
  };

  const sendRow = async (row: Sending): Promise<void> => {
    const account = options.account(row.channel, row.account);
    try {
      if (!account) {
        if (!options.configured(row.channel, row.account)) return await giveUp(row);
        await later(row, NO_ACCOUNT_MS, `the account ${row.channel}/${row.account} does not run`);
        return;
      }
      if (row.payload.draft !== undefined && row.receipts.length === 0) {
        if (await finishedDraft(account, row)) return;
      }
      const rest = row.doubtful === true ? await toRepeat(account, row) : row;
      if (!rest) return;
      if (!(await rates.keep(account, row))) {
        // Nothing went out: it is as if it had not been claimed. A doubtful one stays so.
        if (row.doubtful !== true)
          await store.outbox.retryAt(row.id, lease, now(), "the gateway stopped before it was sent");
        return;
      }
      await sendParts(account, rest);
    } catch (error) {
      await settleFailure(account, row, error);
    } finally {
      if (blocked.delete(placeOf(row))) wake();
    }
  };

  /** Nobody will ever send it, so it is shown at once; whoever brings the account back can have it sent after all. */
  const giveUp = async (row: Sending): Promise<void> => {
    const why = `the account ${row.channel}/${row.account} is not in the configuration`;
    const state = row.doubtful === true ? "uncertain" : "dead";
    await noted(() => store.outbox[state](row.id, lease, why));
    logger.error({ outbox: row.id, channel: row.channel, err: why }, "a reply cannot be delivered");
    onSettled(row, state, why);
  };

  /** False where the row has to be sent without its draft. To change a message again is harmless, so nothing is doubtful. */
  const finishedDraft = async (account: Account, row: Row): Promise<boolean> => {
    if (!(await rates.keep(account, row))) throw new Error("the gateway is stopping");
    return sendParts(account, row, (send) => async (to, message, how) => {
      return finishDraft(account.running, to, message, how, { now: now(), send });
    });
  };

  /** What is still to be sent of a doubtful row: repeated only where the platform tells a repetition apart. */
  const toRepeat = async (account: Account, row: Sending): Promise<Sending | undefined> => {
    const { delivery } = account.definition.capabilities;
    const first = row.receipts.length;
    const content = row.payload.parts[first];
    if (content === undefined) return row;
    // While the platform knows the key it is sure; what reads like the same message may be another one.
    const window = delivery.idempotencyKey?.windowMs;
    if (window !== undefined && now() - row.updatedAt < window) return row;
    if (delivery.readback === true && account.running.reconcile) {
      const found = await account.running.reconcile(
        {
          to: account.definition.codec.decode(row.address),
          idempotencyKey: row.key,
          part: first,
          content,
          ...(row.payload.replyTo === undefined ? {} : { replyTo: row.payload.replyTo }),
          attemptedAt: row.updatedAt,
        },
        stopping.signal,
      );
      if (found.outcome === "sent") {
        const receipt = { part: first, receipt: { messageId: found.messageId } };
        await noted(() => store.outbox.markPart(row.id, lease, receipt));
        if (first + 1 < row.partCount) return { ...row, receipts: [...row.receipts, receipt] };
        await noted(() => store.outbox.markSent(row.id, lease));
        onSettled(row, "sent", "found on the platform after a restart");
        return undefined;
      }
      if (found.outcome === "not-sent") return row;
    }
    await noted(() => store.outbox.uncertain(row.id, lease, "may have been sent before a restart"));
    onSettled(row, "uncertain", "may have been sent before a restart; not repeated");
    return undefined;
  };

  const plainly = ({ running }: Account, { giveUp }: PartLimit): Send => {
    return (to, message, how) => sendSayingWhatFails(running, to, message, how, { logger, giveUp });
  };

  /** False where `by` gives no receipt. */
  const sendParts = async (
    account: Account,
    row: Row,
    by: (send: Send) => (...sent: Parameters<Send>) => Promise<Receipt | undefined> = (send) => send,
  ): Promise<boolean> => {
    const started = now();
    const done: PartReceipt[] = [];
    const limit = patience.limit(row, stopping.signal);
    limit.begin(row.receipts.length);
    const to = account.definition.codec.decode(row.address);
    const how: SendOptions = {
      idempotencyKey: row.key,
      signal: limit.signal,
      openMedia: options.openMedia,
      startAt: row.receipts.length,
      // One part needs no note of its own: its receipt is committed with the end of the row.
      ...(row.partCount > 1
        ? {
            onPart: async (part: PartReceipt) => {
              done.push(part);
              const receipt = { part: part.index, receipt: { messageId: part.messageId } };
              await noted(() => store.outbox.markPart(row.id, lease, receipt));
              // Each part is a request of its own.
              if (part.index + 1 < row.partCount) await rates.keep(account, row);
              limit.begin(part.index + 1);
            },
          }
        : {}),
    };
    const send = by(plainly(account, limit));
    const receipt = await send(to, row.payload, how).finally(limit.end);
    if (receipt === undefined) return false;
    const open = receipt.parts.filter((part) => !done.some((one) => one.index === part.index));
    const receipts = open.map((part) => ({ part: part.index, receipt: { messageId: part.messageId } }));
    await noted(() => store.outbox.markSent(row.id, lease, receipts));
    onSettled(row, "sent", `${row.partCount} part${row.partCount === 1 ? "" : "s"} in ${now() - started} ms`);
    return true;
  };

  const settleFailure = async (account: Account | undefined, row: Sending, error: unknown): Promise<void> => {
    // A stop in the middle leaves the row as it is; the next start decides about it.
    if (stopping.signal.aborted) return;
    const message = messageOf(error);
    try {
      if (!isChannelError(error)) {
        logger.error({ outbox: row.id, err: message }, "a reply failed in an unforeseen way");
        // Where the store could not say that it is out, it may be.
        const how = error instanceof StoreError ? { ...row, doubtful: true } : row;
        await later(how, backoff.after(row.id), message);
        return;
      }
      await settleChannelError(account, row, error);
    } catch (failure) {
      logger.error({ outbox: row.id, err: messageOf(failure) }, "the end of a reply could not be written");
    }
  };

  const settleChannelError = async (
    account: Account | undefined,
    row: Sending,
    error: ChannelError,
  ): Promise<void> => {
    switch (error.code) {
      case "rate_limited":
        if (account) rates.complained(account, row);
        return later(row, error.retryAfterMs ?? backoff.after(row.id), error.message);
      case "transient":
        return later(row, error.retryAfterMs ?? backoff.after(row.id), error.message);
      case "auth":
        return later(row, AUTH_RETRY_MS, error.message);
      case "unknown_outcome": {
        if (account && repeatable(account.definition)) {
          return later({ ...row, doubtful: true }, backoff.after(row.id), error.message);
        }
        await noted(() => store.outbox.uncertain(row.id, lease, error.message));
        return onSettled(row, "uncertain", error.message);
      }
      case "permission":
      case "not_found":
      case "too_large":
      case "unsupported":
      case "invalid":
        await noted(() =>
          store.outbox.dead(row.id, lease, error.message, (dead) => wordAboutDead(dead, error.code, now())),
        );
        wake();
        logger.error(
          { outbox: row.id, channel: row.channel, err: error.message },
          "a reply cannot be delivered",
        );
        return onSettled(row, "dead", error.message);
    }
  };

  const later = async (row: Sending, delayMs: number, why: string): Promise<void> => {
    if (row.doubtful === true) return laterDoubtful(row, delayMs, why);
    await noted(() => store.outbox.retryAt(row.id, lease, now() + delayMs, why));
    tellRetry(row, delayMs, why);
    sleepUntil(now() + delayMs);
  };

  /** Given back as not sent it would go out again without a look at the platform, so it is kept until it is clear. */
  const laterDoubtful = async (row: Sending, delayMs: number, why: string): Promise<void> => {
    if (row.expiresAt !== undefined && now() + delayMs >= row.expiresAt) {
      await noted(() => store.outbox.uncertain(row.id, lease, why));
      return onSettled(row, "uncertain", why);
    }
    tellRetry(row, delayMs, why);
    await delay(delayMs, undefined, { signal: draining.signal }).catch(() => {});
    if (draining.signal.aborted) return;
    const receipts = (await store.outbox.get(row.id))?.receipts ?? row.receipts;
    await sendRow({ ...row, receipts, attempts: row.attempts + 1 });
  };

  const tellRetry = (row: Row, delayMs: number, why: string): void => {
    logger.warn(
      { outbox: row.id, channel: row.channel, attempts: row.attempts, delayMs, err: why },
      "a reply waits",
    );
    onSettled(row, "retry", `${why}; again in ${delayMs} ms`);
  };

  /** Looks again at `at`, or earlier where that was asked for already. */
  const sleepUntil = (at: number | undefined): void => {
    if (at === undefined || at >= timerAt || stopping.signal.aborted) return;
    clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(
      () => {
        timerAt = Number.POSITIVE_INFINITY;
        wake();
      },
      Math.max(0, Math.min(at - now(), LONGEST_SLEEP_MS)),
    );
    timer.unref();
  };

  const wake = (): void => {
    if (stopping.signal.aborted) return;
    if (claiming) {
      again = true;
      return;
    }
    claiming = true;
    void claim().finally(() => {
      claiming = false;
      if (again) {
        again = false;
        wake();
      }
    });
  };

  const claim = async (): Promise<void> => {
    try {
      const { rows, expired, nextAt } = await store.outbox.claimDue({
        lease,
        limit: CLAIM,
        report: (ended) => wordsAboutExpired(ended, now()),
      });
      for (const row of expired) {
        logger.warn({ outbox: row.id, channel: row.channel }, "a reply was too old to be sent");
        onSettled(row, "expired", "too old to be sent");
      }
      for (const row of rows) {
        // The store gives out one row of an address at a time.
        blocked.add(placeOf(row));
        track(sendRow(row));
      }
      if (rows.length === CLAIM) again = true;
      sleepUntil(nextAt);
    } catch (error) {
      logger.error({ err: messageOf(error) }, "the outbox could not be read");
      sleepUntil(now() + 5_000);
    }
  };

  return {
    deliver(rows) {
      let unclaimed = false;
      for (const row of rows) {
        if (row.state === "sending") {
          track(sendRow(row));
          continue;
        }
        blocked.add(placeOf(row));
        unclaimed = true;
      }
      if (unclaimed) wake();
    },
    wake,
    async stop(drainMs) {
      clearTimeout(timer);
      draining.abort();
      const drained = Promise.allSettled([...inFlight]);
      let limit: NodeJS.Timeout | undefined;
      await Promise.race([
        drained,
        new Promise((resolve) => {
          limit = setTimeout(resolve, drainMs);
        }),
      ]);
      clearTimeout(limit);
      stopping.abort(new Error("the gateway is stopping"));
      await Promise.allSettled([...inFlight]);
    },
    inFlight: () => inFlight.size,
  };
}
