import {
  isChannelError,
  type PartReceipt,
  type Receipt,
  reasonOf,
  type SendOptions,
} from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import { finishDraft, type Send } from "./finish-draft.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { ClaimedRow, Millis, OutboxRow, StoredReceipt } from "./outbox.ts";
import { type MediaFailures, partDeadlines } from "./part-deadlines.ts";
import type { Rates } from "./rates.ts";
import { reconcile } from "./reconcile.ts";
import { sendParts } from "./send-parts.ts";
import { type Settlement, settlementOf } from "./settlement.ts";
import { type LanguageOf, phrasesOfRows } from "./words.ts";

/** An account that is away may start at any time, and asking for it costs no request. */
const NO_ACCOUNT_MS = 15_000;

export interface AttemptPorts {
  readonly account: AccountLookup;
  readonly configured: (channel: string, account: string) => boolean;
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  readonly languageOf: LanguageOf | undefined;
  readonly rates: Rates;
  readonly mediaFailures: MediaFailures;
  /** Records that one part is out. Throws `NotRecorded`. */
  readonly recordPart: (row: OutboxRow, receipt: StoredReceipt) => Promise<void>;
  readonly logger: DeliveryLogger;
  readonly now: () => Millis;
  /** Ends every request. */
  readonly stopped: AbortSignal;
}

/** Tries to send a row once. What happened on the way is recorded; the settlement is not. Never rejects. */
export async function attempt(ports: AttemptPorts, row: ClaimedRow): Promise<Settlement> {
  const account = ports.account(row.channel, row.account);
  if (account === undefined) return withoutAccount(ports, row);
  try {
    if (row.payload.draft !== undefined && row.receipts.length === 0) {
      const finished = await finishAsDraft(ports, account, row);
      if (finished !== undefined) return finished;
    }
    if (row.doubtful !== true) return await sendOpenParts(ports, account, row);
    return await resendDoubtful(ports, account, row);
  } catch (error) {
    if (isChannelError(error) && error.code === "rate_limited") ports.rates.complain(account, row);
    if (!isChannelError(error) && !ports.stopped.aborted)
      ports.logger.error({ outbox: row.id, err: reasonOf(error) }, "a reply failed unexpectedly");
    return settlementOf(error, account, row);
  }
}

/**
 * An account that is no longer configured sends nothing; if it is configured again, an operator can still have the row
 * sent.
 */
function withoutAccount(
  { configured }: AttemptPorts,
  { channel, account, doubtful = false }: ClaimedRow,
): Settlement {
  if (configured(channel, account)) {
    const reason = `the account ${channel}/${account} does not run`;
    return { state: "retry", delayMs: NO_ACCOUNT_MS, doubtful, reason };
  }
  const reason = `the account ${channel}/${account} is not in the configuration`;
  return { state: doubtful ? "uncertain" : "dead", reason };
}

async function resendDoubtful(
  ports: AttemptPorts,
  account: DeliveryAccount,
  row: ClaimedRow,
): Promise<Settlement> {
  const reconciled = await reconcile(account, row, ports.now(), ports.stopped);
  switch (reconciled.outcome) {
    case "repeat":
      return sendOpenParts(ports, account, row);
    case "not_sent":
      // Given back, so that the outcome of the next send is unknown only since then.
      return { state: "retry", delayMs: 0, doubtful: false, reason: "not found on the platform" };
    case "unknown": {
      const reason = "may have been sent before a restart";
      return { state: "uncertain", reason, detail: `${reason}; not repeated` };
    }
    case "sent": {
      const receipt = { part: row.receipts.length, receipt: { messageId: reconciled.messageId } };
      if (receipt.part + 1 >= row.partCount)
        return { state: "sent", receipts: [receipt], detail: "found on the platform after a restart" };
      await ports.recordPart(row, receipt);
      return sendOpenParts(ports, account, { ...row, receipts: [...row.receipts, receipt] });
    }
  }
}

async function sendOpenParts(
  ports: AttemptPorts,
  account: DeliveryAccount,
  row: ClaimedRow,
): Promise<Settlement> {
  if (!(await ports.rates.wait(account, row))) return { state: "untried" };
  const request = beginRequest(ports, account, row);
  const receipt = await request.send(request.to, row.payload, request.options).finally(request.end);
  return request.settlementOf(receipt);
}

/** Undefined where the row has to be sent without its draft. */
async function finishAsDraft(
  ports: AttemptPorts,
  account: DeliveryAccount,
  row: ClaimedRow,
): Promise<Settlement | undefined> {
  if (!(await ports.rates.wait(account, row))) return { state: "untried" };
  const { to, options, send, end, settlementOf } = beginRequest(ports, account, row);
  const how = { now: ports.now(), send };
  const receipt = await finishDraft(account.running, to, row.payload, options, how).finally(end);
  return receipt === undefined ? undefined : settlementOf(receipt);
}

/** One pass over the open parts of a row. */
interface Request {
  readonly to: unknown;
  readonly options: SendOptions;
  readonly send: Send;
  /** Releases the timers. */
  readonly end: () => void;
  readonly settlementOf: (receipt: Receipt) => Settlement;
}

function beginRequest(ports: AttemptPorts, account: DeliveryAccount, row: ClaimedRow): Request {
  const { logger, now } = ports;
  const started = now();
  const recorded = new Set<number>();
  const deadlines = partDeadlines(row, ports.mediaFailures, ports.stopped);
  deadlines.begin(row.receipts.length);
  const onPart = async (part: PartReceipt): Promise<void> => {
    // It is out: what is waited for from here on is not of its time, nor of the next part's.
    deadlines.end();
    recorded.add(part.index);
    await ports.recordPart(row, storedReceipt(part));
    // Each part is a request of its own.
    if (part.index + 1 < row.partCount) await ports.rates.wait(account, row);
    deadlines.begin(part.index + 1);
  };
  return {
    to: account.definition.codec.decode(row.address),
    options: {
      idempotencyKey: row.key,
      signal: deadlines.signal,
      openMedia: ports.openMedia,
      startAt: row.receipts.length,
      // One part needs no record of its own: its receipt is committed with the end of the row.
      ...(row.partCount > 1 ? { onPart } : {}),
    },
    send: (to, message, options) =>
      sendParts(account.running, to, message, options, {
        logger,
        phrases: () => phrasesOfRows([row], ports.languageOf),
        giveUp: deadlines.giveUp,
      }),
    end: deadlines.end,
    settlementOf({ parts }) {
      const receipts = parts.filter(({ index }) => !recorded.has(index)).map(storedReceipt);
      const count = `${row.partCount} part${row.partCount === 1 ? "" : "s"}`;
      return { state: "sent", receipts, detail: `${count} in ${now() - started} ms` };
    },
  };
}

function storedReceipt({ index, messageId }: PartReceipt): StoredReceipt {
  return { part: index, receipt: { messageId } };
}
