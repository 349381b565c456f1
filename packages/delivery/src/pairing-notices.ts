import { type Clock, reasonOf, systemClock } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import type { AccountLookup } from "./account.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { LeaseToken, Millis, OutboxStore } from "./outbox.ts";
import { outboxKey, outboxRow } from "./rows.ts";

/** A person who was let in. */
export interface PairedPeer {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
  readonly approvedAt: Millis;
}

export interface PairingNoticesOptions {
  readonly outbox: Pick<OutboxStore, "enqueue">;
  readonly lease: LeaseToken;
  readonly peers: () => Promise<readonly PairedPeer[]>;
  readonly account: AccountLookup;
  /** Has the outbox looked through. */
  readonly wakeOutbox: () => void;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Tells people that they were let in, by this process or another. */
export interface PairingNotices {
  /** Looks who was let in lately. Never rejects. */
  look(): Promise<void>;
}

/** Later than that it is no news. */
const LATELY_MS = 10 * 60_000;
const OPEN_MS = 10_000;
/** Nobody knows yet which of the two they read. */
const TEXT = `${phrasesIn("en").paired} ${phrasesIn("zh").paired}`;

export function createPairingNotices(options: PairingNoticesOptions): PairingNotices {
  const { outbox, lease, logger, clock = systemClock } = options;
  const told = new Set<string>();

  async function tell({ channel, account, peerId }: PairedPeer, key: string): Promise<void> {
    const target = options.account(channel, account);
    const address = await target?.running.openDirect?.(peerId, AbortSignal.timeout(OPEN_MS));
    if (target === undefined || address === undefined) return;
    const destination = { channel, account, address: target.definition.codec.encode(address) };
    const payload = { parts: [{ type: "text" as const, text: TEXT }], notice: true };
    const row = outboxRow(destination, payload, { expiresAt: clock.now() + LATELY_MS, claim: false });
    await outbox.enqueue([{ ...row, key }], { lease });
    told.add(key);
    options.wakeOutbox();
  }

  const onFailure = (error: unknown): void =>
    logger.debug({ err: reasonOf(error) }, "a person could not be told that they were let in");

  return {
    async look() {
      const since = clock.now() - LATELY_MS;
      const peers = await options.peers().catch((error: unknown) => {
        onFailure(error);
        return [];
      });
      for (const peer of peers) {
        const { channel, account, peerId, approvedAt } = peer;
        // Told again by the next process it is the same message.
        const key = outboxKey("paired", channel, account, peerId, String(approvedAt));
        // One who cannot be written to keeps nobody else from it.
        if (approvedAt > since && !told.has(key)) await tell(peer, key).catch(onFailure);
      }
    },
  };
}
