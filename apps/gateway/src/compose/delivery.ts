import { reasonOf } from "@signalbox/agent-core";
import type { SendOptions } from "@signalbox/channel";
import {
  createDelivery,
  createOwnerNotices,
  createPairingNotices,
  type Delivery,
  type DeliveryState,
  type PairingNotices,
} from "@signalbox/delivery";
import type { Accounts } from "@signalbox/setup";
import { type GatewayHooks, sentMessage } from "@signalbox/setup/hooks";
import { isPassing, type LeaseToken, type OutboxRow } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { Tracer } from "../traces.ts";

export interface DeliveryOptions {
  readonly owners: readonly string[];
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly accounts: Pick<Accounts, "definition" | "list">;
  readonly account: Accounts["get"];
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  readonly hooks: GatewayHooks;
  readonly tracer: Tracer;
  readonly metrics: Pick<Metrics, "sent">;
  readonly logger: Logger;
  readonly now: () => number;
}

type Row = OutboxRow<GatewayBodies>;

export interface ReplyDelivery extends Delivery<Row> {
  readonly pairingNotices: PairingNotices;
}

/** Replies that were given up, of which owners are told. */
const GIVEN_UP: ReadonlySet<DeliveryState> = new Set(["dead", "uncertain", "expired"]);

/** Delivers replies, and lets those know who have to hear how that went: traces, hooks, metrics, owners. */
export function createReplyDelivery(options: DeliveryOptions): ReplyDelivery {
  const { store, lease, accounts, account, hooks, logger, now } = options;

  /** From the outbox itself, so that replies of an earlier process and answers without a run have their note, too. */
  const trace = (row: Row, state: DeliveryState, detail: string): void => {
    const then = AFTERWARDS[state] ?? "";
    store.outbox.answers(row.id).then(
      (ids) => {
        for (const id of ids)
          options.tracer.note(id, "outbox", `${state}: ${detail}${then}`, { outbox: row.id });
      },
      (error: unknown) => logger.warn({ err: reasonOf(error) }, "a trace could not be written"),
    );
  };

  const { outbox } = store;
  const delivery = createDelivery<Row>({
    outbox,
    lease,
    account,
    logger,
    isPassing,
    openMedia: options.openMedia,
    configured: (channel, name) => accounts.definition(channel, name) !== undefined,
    onSettled(row, state, detail) {
      trace(row, state, detail);
      if (state === "sent") options.metrics.sent(row.channel, now() - row.createdAt);
      if (GIVEN_UP.has(state) && row.payload.notice !== true) notices.look();
      // To take a draft back says nothing.
      if (state === "sent" && row.payload.parts.length > 0) hooks.observe("message_sent", sentMessage(row));
    },
  });
  const notices = createOwnerNotices({
    outbox,
    lease,
    logger,
    notes: store.kv,
    owners: options.owners,
    accounts: (channel) =>
      accounts
        .list()
        .flatMap((one) => (one.channel === channel ? (account(channel, one.account) ?? []) : [])),
    lastAccountOf: async (channel, peer) =>
      (await store.sessions.list({ channel, peer, limit: 1 }))[0]?.account,
    wakeOutbox: delivery.wake,
  });
  // What an earlier process gave up and told nobody of.
  notices.look();
  const pairingNotices = createPairingNotices({
    outbox,
    lease,
    account,
    logger,
    peers: store.pairing.peers,
    wakeOutbox: delivery.wake,
  });
  return {
    ...delivery,
    pairingNotices,
    stop(drainMs) {
      notices.stop();
      return delivery.stop(drainMs);
    },
  };
}

const AFTERWARDS: Readonly<Record<string, string>> = {
  dead: "; the message is failed-reported",
  expired: "; the message is expired-reported",
};
