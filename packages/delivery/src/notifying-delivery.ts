import type { DeliveryAccount } from "./account.ts";
import { createDelivery, type Delivery, type DeliveryOptions, type DeliveryState } from "./delivery.ts";
import type { OutboxRow, OutboxStore } from "./outbox.ts";
import { createOwnerNotices, type OwnerNotices, type OwnerNoticesOptions } from "./owner-notices.ts";
import { createPairingNotices, type PairingNotices, type PairingNoticesOptions } from "./pairing-notices.ts";

export interface NotifyingDeliveryOptions<Row extends OutboxRow = OutboxRow>
  extends DeliveryOptions<Row>,
    Pick<OwnerNoticesOptions, "lastHeardOf" | "notes" | "owners">,
    Pick<PairingNoticesOptions, "peers"> {
  readonly outbox: OutboxStore<Row> & OwnerNoticesOptions["outbox"];
  /** The accounts of a channel that the configuration names. */
  readonly accountsOf: (channel: string) => readonly { readonly account: string }[];
}

/** Delivers messages, and tells people what they would not hear of otherwise. */
export interface NotifyingDelivery<Row extends OutboxRow = OutboxRow> extends Delivery<Row> {
  readonly pairingNotices: PairingNotices;
}

/** Given-up messages that owners are told of. */
const GIVEN_UP: ReadonlySet<DeliveryState> = new Set(["dead", "uncertain", "expired"]);

/** A delivery that tells owners what was given up, and people that they were let in. */
export function createNotifyingDelivery<Row extends OutboxRow>(
  options: NotifyingDeliveryOptions<Row>,
): NotifyingDelivery<Row> {
  const { onSettled } = options;
  const delivery = createDelivery<Row>({
    ...options,
    onSettled(row, state, detail) {
      onSettled(row, state, detail);
      if (GIVEN_UP.has(state) && row.payload.notice !== true) notices.look();
    },
  });
  const notices = noticesFor(options, delivery);
  let isFirst = true;
  return {
    deliver: (rows) => delivery.deliver(rows),
    wake() {
      // What an earlier process gave up and told nobody of. A start that fails comes to no wake, and nothing to stop.
      if (isFirst) notices.look();
      isFirst = false;
      delivery.wake();
    },
    ended: (rowId) => delivery.ended(rowId),
    inFlight: () => delivery.inFlight(),
    pairingNotices: createPairingNotices({ ...options, wakeOutbox: () => delivery.wake() }),
    stop(drainMs) {
      notices.stop();
      return delivery.stop(drainMs);
    },
  };
}

function noticesFor<Row extends OutboxRow>(
  options: NotifyingDeliveryOptions<Row>,
  delivery: Delivery<Row>,
): OwnerNotices {
  const accounts = (channel: string): readonly DeliveryAccount[] =>
    options.accountsOf(channel).flatMap(({ account }) => options.account(channel, account) ?? []);
  return createOwnerNotices({ ...options, accounts, wakeOutbox: () => delivery.wake() });
}
