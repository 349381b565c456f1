import type { DeliveryAccount } from "./account.ts";
import { createDelivery } from "./delivery.ts";
import type { Delivery, DeliveryOptions, DeliveryOutcome } from "./delivery-types.ts";
import { createOwnerNotices, type OwnerNotices, type OwnerNoticesOptions } from "./owner-notices.ts";
import { createPairingNotices, type PairingNotices, type PairingNoticesOptions } from "./pairing-notices.ts";

export interface NotifyingDeliveryOptions
  extends DeliveryOptions,
    Pick<OwnerNoticesOptions, "getLastContact" | "notes" | "notifies" | "owners">,
    Pick<PairingNoticesOptions, "peers"> {
  readonly outbox: DeliveryOptions["outbox"] & OwnerNoticesOptions["outbox"];
  readonly logger: DeliveryOptions["logger"] & OwnerNoticesOptions["logger"];
  /** Returns the configured accounts of a channel. */
  readonly accountsOf: (channel: string) => readonly { readonly account: string }[];
}

/** A delivery that also sends notices to owners and to people who were paired. */
export interface NotifyingDelivery extends Delivery {
  readonly pairingNotices: PairingNotices;
  readonly ownerNotices: Pick<OwnerNotices, "ask" | "poll" | "send">;
}

/** Outcomes about which owners are notified. */
const GIVEN_UP: ReadonlySet<DeliveryOutcome> = new Set(["dead", "uncertain", "expired"]);

/** Creates a delivery that notifies owners about replies that were given up, and people who were paired. */
export function createNotifyingDelivery(options: NotifyingDeliveryOptions): NotifyingDelivery {
  const delivery = createDelivery({
    ...options,
    onOutcome(row, outcome, detail) {
      options.onOutcome?.(row, outcome, detail);
      if (!GIVEN_UP.has(outcome)) return;
      if (row.payload.ownerNotice !== undefined) notices.undelivered(row);
      else if (row.payload.notice !== true) notices.poll();
    },
  });
  const notices = createNotices(options, delivery);
  let isFirst = true;
  return {
    deliver: (rows) => delivery.deliver(rows),
    wake() {
      // Also report rows that an earlier process gave up. Not before the first wake, because a failed start never stops
      // the notices.
      if (isFirst) notices.poll();
      isFirst = false;
      delivery.wake();
    },
    ended: (rowId) => delivery.ended(rowId),
    notDelivered: (report) => delivery.notDelivered(report),
    inFlight: () => delivery.inFlight(),
    ownerNotices: notices,
    pairingNotices: createPairingNotices({ ...options, wakeOutbox: () => delivery.wake() }),
    stop(drainMs) {
      notices.stop();
      return delivery.stop(drainMs);
    },
  };
}

function createNotices(options: NotifyingDeliveryOptions, delivery: Delivery): OwnerNotices {
  const accounts = (channel: string): readonly DeliveryAccount[] =>
    options.accountsOf(channel).flatMap(({ account }) => options.account(channel, account) ?? []);
  return createOwnerNotices({ ...options, accounts, wakeOutbox: () => delivery.wake() });
}
