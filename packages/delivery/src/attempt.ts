import {
  type PartReceipt as ChannelReceipt,
  type Clock,
  isChannelError,
  type Receipt,
  reasonOf,
  type SendOptions,
} from "@signalbox/channel";
import type { Logger, PartReceipt } from "@signalbox/store/types";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import { type AttemptResult, toAttemptResult } from "./attempt-result.ts";
import { finishDraft, type Send } from "./drafts/finish-draft.ts";
import { type GetLeaseMs, limitToLease } from "./lease-limit.ts";
import { sendWithMediaFallback } from "./media-fallback.ts";
import type { ClaimedRow, OutboxRow } from "./outbox.ts";
import { createPartDeadlines, type MediaFailures } from "./part-deadlines.ts";
import type { Rates } from "./rates.ts";
import { reconcile } from "./reconcile.ts";
import { type GetLanguage, getPhrases } from "./row-phrases.ts";

/**
 * Delay in milliseconds for an account that is not running. It may start at any time, and the check costs no request.
 */
const NO_ACCOUNT_MS = 15_000;
/** Delay in milliseconds for a row that was not tried because the lease had expired. */
const NO_LEASE_MS = 1_000;

export interface AttemptContext {
  readonly account: AccountLookup;
  readonly configured: (channel: string, account: string) => boolean;
  /** See `DeliveryOptions.unableToSend`. */
  readonly unableToSend: () => readonly Pick<OutboxRow, "channel" | "account">[];
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  readonly getLanguage: GetLanguage | undefined;
  readonly rates: Rates;
  readonly mediaFailures: MediaFailures;
  /** Stores the receipt of one part. Throws `NotRecorded`. */
  readonly recordPart: (row: OutboxRow, receipt: PartReceipt) => Promise<void>;
  readonly logger: Pick<Logger, "error">;
  readonly now: () => number;
  readonly clock: Clock;
  /** See `DeliveryOptions.getLeaseMs`. */
  readonly getLeaseMs: GetLeaseMs | undefined;
  /** Aborts every request. */
  readonly stopped: AbortSignal;
}

/** Tries once to send a row. Stores the receipts of its parts, but not the result. Never rejects. */
export async function attempt(context: AttemptContext, row: ClaimedRow): Promise<AttemptResult> {
  const limit = limitToLease(context.getLeaseMs, context.stopped, context.clock);
  try {
    const result = await attemptWithin({ ...context, stopped: limit.signal }, row);
    if (result.state !== "untried" || context.stopped.aborted) return result;
    const reason = "the lease of this gateway has expired";
    return { state: "retry", delayMs: NO_LEASE_MS, doubtful: row.doubtful === true, reason };
  } finally {
    limit.end();
  }
}

async function attemptWithin(context: AttemptContext, row: ClaimedRow): Promise<AttemptResult> {
  if (context.stopped.aborted) return { state: "untried" };
  const isUnable = ({ channel, account }: Pick<OutboxRow, "channel" | "account">) =>
    channel === row.channel && account === row.account;
  if (context.unableToSend().some(isUnable)) {
    const reason = `another gateway runs account ${row.channel}/${row.account}`;
    return row.doubtful === true
      ? { state: "handed_over", reason }
      : { state: "retry", delayMs: 0, doubtful: false, reason };
  }
  const account = context.account(row.channel, row.account);
  if (account === undefined) return getResultWithoutAccount(context, row);
  // A row that waits here would be doubtful after a crash, so it waits in the outbox. A row that is already doubtful
  // must not return there.
  const isCounted = row.doubtful !== true;
  const delayMs = isCounted ? context.rates.reserve(account, row) : 0;
  if (delayMs > 0) return { state: "postponed", delayMs };
  try {
    const isDraft = row.payload.draft !== undefined && row.receipts.length === 0;
    if (isDraft) {
      const result = await sendAsDraft(context, account, row, isCounted);
      if (result !== undefined) return result;
    }
    if (row.doubtful === true) return await resendDoubtful(context, account, row);
    return await sendOpenParts(context, account, row, isCounted && !isDraft);
  } catch (error) {
    if (isChannelError(error) && error.code === "rate_limited") context.rates.enforce(account, row);
    if (!isChannelError(error) && !context.stopped.aborted)
      context.logger.error({ outbox: row.id, err: reasonOf(error) }, "a reply failed unexpectedly");
    return toAttemptResult(error, account, row);
  }
}

/** Gives up a row of an account that is no longer configured. An operator can retry it later. */
function getResultWithoutAccount(
  { configured }: AttemptContext,
  { channel, account, doubtful = false }: ClaimedRow,
): AttemptResult {
  if (configured(channel, account)) {
    const reason = `account ${channel}/${account} is not running`;
    return { state: "retry", delayMs: NO_ACCOUNT_MS, doubtful, reason };
  }
  const reason = `account ${channel}/${account} is not configured`;
  return { state: doubtful ? "uncertain" : "dead", reason };
}

async function resendDoubtful(
  context: AttemptContext,
  account: DeliveryAccount,
  row: ClaimedRow,
): Promise<AttemptResult> {
  const reconciled = await reconcile(account, row, context.now(), context.stopped);
  switch (reconciled.outcome) {
    case "repeat":
      return sendOpenParts(context, account, row);
    case "not_sent":
      // Return the row to the outbox, because a later lookup must start at the time of the next attempt.
      return { state: "retry", delayMs: 0, doubtful: false, reason: "not found on the platform" };
    case "unknown": {
      const reason = "may have been sent before a restart";
      return { state: "uncertain", reason, detail: `${reason}; not repeated` };
    }
    case "sent": {
      const receipt = { part: row.receipts.length, receipt: { messageId: reconciled.messageId } };
      if (receipt.part + 1 >= row.partCount)
        return { state: "sent", receipts: [receipt], detail: "found on the platform after a restart" };
      await context.recordPart(row, receipt);
      return sendOpenParts(context, account, { ...row, receipts: [...row.receipts, receipt] });
    }
  }
}

/** @param isCounted true if the rate limit already counts the first request */
async function sendOpenParts(
  context: AttemptContext,
  account: DeliveryAccount,
  row: ClaimedRow,
  isCounted = false,
): Promise<AttemptResult> {
  if (!(await isAllowed(context, account, row, isCounted))) return { state: "untried" };
  const request = beginRequest(context, account, row);
  const receipt = await request.send(request.to, row.payload, request.options).finally(request.end);
  return request.toResult(receipt);
}

/** Returns `undefined` if the row must be sent without its draft. */
async function sendAsDraft(
  context: AttemptContext,
  account: DeliveryAccount,
  row: ClaimedRow,
  isCounted: boolean,
): Promise<AttemptResult | undefined> {
  if (!(await isAllowed(context, account, row, isCounted))) return { state: "untried" };
  const { to, options, send, end, toResult } = beginRequest(context, account, row);
  const receipt = await finishDraft(account.running, to, row.payload, options, {
    now: context.now(),
    send,
  }).finally(end);
  return receipt === undefined ? undefined : toResult(receipt);
}

/** Waits for the rate limit. Resolves with false if delivery was stopped or the lease ended. */
async function isAllowed(
  { rates, stopped }: AttemptContext,
  account: DeliveryAccount,
  row: ClaimedRow,
  isCounted: boolean,
): Promise<boolean> {
  if (!isCounted) await rates.wait(account, row);
  return !stopped.aborted;
}

/** One pass over the open parts of a row. */
interface Request {
  readonly to: unknown;
  readonly options: SendOptions;
  readonly send: Send;
  /** Clears the timers. */
  readonly end: () => void;
  readonly toResult: (receipt: Receipt) => AttemptResult;
}

function beginRequest(context: AttemptContext, account: DeliveryAccount, row: ClaimedRow): Request {
  const { logger, now } = context;
  const started = now();
  const recorded = new Set<number>();
  const deadlines = createPartDeadlines(row, context.mediaFailures, context.stopped);
  deadlines.begin(row.receipts.length);
  const onPart = async (part: ChannelReceipt): Promise<void> => {
    // The part was sent. The time to store its receipt must not count toward its own deadline or the next one.
    deadlines.end();
    recorded.add(part.index);
    await context.recordPart(row, toStoredReceipt(part));
    // Each part is a request, so each waits for the rate limit.
    if (part.index + 1 < row.partCount) await context.rates.wait(account, row);
    deadlines.begin(part.index + 1);
  };
  return {
    to: account.definition.codec.decode(row.address),
    options: {
      idempotencyKey: row.key,
      signal: deadlines.signal,
      openMedia: context.openMedia,
      startAt: row.receipts.length,
      // The receipt of a single part is committed together with the result of the row.
      onPart: row.partCount > 1 ? onPart : undefined,
    },
    send: (to, message, options) =>
      sendWithMediaFallback(account.running, to, message, options, {
        logger,
        phrases: () => getPhrases([row], context.getLanguage),
        giveUp: deadlines.giveUp,
      }),
    end: deadlines.end,
    toResult({ parts }) {
      const receipts = parts.filter(({ index }) => !recorded.has(index)).map(toStoredReceipt);
      const count = `${row.partCount} part${row.partCount === 1 ? "" : "s"}`;
      return { state: "sent", receipts, detail: `${count} in ${now() - started} ms` };
    },
  };
}

function toStoredReceipt({ index, messageId }: ChannelReceipt): PartReceipt {
  return { part: index, receipt: { messageId } };
}
