import { type Clock, reasonOf, systemClock } from "@signalbox/channel";
import { phrasesIn } from "@signalbox/phrases";
import type { LeaseToken, Logger, PairingPeer } from "@signalbox/store/types";
import type { AccountLookup } from "./account.ts";
import type { OutboxStore } from "./outbox.ts";
import { createOutboxKey, createOutboxRow } from "./rows.ts";

/** A person who was paired. */
export type PairedPeer = Pick<PairingPeer, "channel" | "account" | "peerId" | "approvedAt">;

export interface PairingNoticesOptions {
  readonly outbox: Pick<OutboxStore, "enqueue">;
  readonly lease: LeaseToken;
  readonly peers: () => Promise<readonly PairedPeer[]>;
  readonly account: AccountLookup;
  /** Makes the delivery look for due rows. */
  readonly wakeOutbox: () => void;
  readonly logger: Pick<Logger, "debug">;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Sends a notice to people who were paired, by this process or another one. */
export interface PairingNotices {
  /** Looks for people who were paired recently and writes to them. Never rejects. */
  poll(): Promise<void>;
}

/** Maximum age of a pairing in milliseconds. Later, no notice is sent. */
const RECENT_MS = 10 * 60_000;
const OPEN_TIMEOUT_MS = 10_000;
/** In both languages, because the person's language is still unknown. */
const TEXT = `${phrasesIn("en").paired} ${phrasesIn("zh").paired}`;

export function createPairingNotices(options: PairingNoticesOptions): PairingNotices {
  const { outbox, lease, logger, clock = systemClock } = options;
  const notified = new Set<string>();

  async function notify({ channel, account, peerId }: PairedPeer, key: string): Promise<void> {
    const target = options.account(channel, account);
    const address = await target?.running.openDirect?.(peerId, AbortSignal.timeout(OPEN_TIMEOUT_MS));
    if (target === undefined || address === undefined) return;
    const destination = { channel, account, address: target.definition.codec.encode(address) };
    const payload = { parts: [{ type: "text" as const, text: TEXT }], notice: true };
    const row = createOutboxRow(destination, payload, { expiresAt: clock.now() + RECENT_MS, claim: false });
    await outbox.enqueue([{ ...row, key }], { lease });
    notified.add(key);
    options.wakeOutbox();
  }

  const onFailure = (error: unknown): void =>
    logger.debug({ err: reasonOf(error) }, "a person could not be notified of their pairing");

  return {
    async poll() {
      const since = clock.now() - RECENT_MS;
      const peers = await options.peers().catch((error: unknown) => {
        onFailure(error);
        return [];
      });
      for (const peer of peers) {
        const { channel, account, peerId, approvedAt } = peer;
        // The key is the same in every process, so that a restart does not send the notice again.
        const key = createOutboxKey("paired", channel, account, peerId, String(approvedAt));
        if (approvedAt > since && !notified.has(key)) await notify(peer, key).catch(onFailure);
      }
    },
  };
}
