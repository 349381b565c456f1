import type { SendOptions } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
import type { LeaseToken } from "@signalbox/store";
import type { Accounts } from "./channels.ts";
import { messageOf } from "./errors.ts";
import type { Hooks } from "./hooks.ts";
import type { Logger } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import { sentMessage } from "./own-hooks.ts";
import { createOwnerNotices, type OwnerNotices } from "./owner-notices.ts";
import { createDeliverer, type Deliverer, type OutboxOptions } from "./path/outbox.ts";
import type { GatewayStore } from "./path/stored.ts";
import type { Tracer } from "./path/trace.ts";

export interface DeliveryOptions {
  readonly config: Config;
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly accounts: Pick<Accounts, "definition" | "list">;
  readonly account: Accounts["get"];
  readonly openMedia: NonNullable<SendOptions["openMedia"]>;
  readonly hooks: Hooks;
  readonly tracer: Tracer;
  readonly metrics: Pick<Metrics, "sent">;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Delivers replies, and lets those know who have to hear how that went: traces, hooks, owners. */
export function createDelivery(options: DeliveryOptions): Deliverer {
  const { config, store, lease, accounts, account, hooks, logger, now } = options;

  /** From the outbox itself, so that replies of an earlier process and answers without a run have their note, too. */
  const trace: OutboxOptions["onSettled"] = (row, state, detail) => {
    const then = AFTERWARDS[state] ?? "";
    store.outbox.answers(row.id).then(
      (ids) => {
        for (const id of ids)
          options.tracer.note(id, "outbox", `${state}: ${detail}${then}`, { outbox: row.id });
      },
      (error: unknown) => logger.warn({ err: messageOf(error) }, "a trace could not be written"),
    );
  };

  const notices: OwnerNotices = createOwnerNotices({
    ...{ store, lease, logger, now, owners: config.access.owners },
    accounts: (channel) =>
      accounts.list().flatMap((one) => {
        const running = one.channel === channel ? account(channel, one.account) : undefined;
        return running ? [[one.account, running]] : [];
      }),
    wakeOutbox: () => deliverer.wake(),
  });
  const deliverer = createDeliverer({
    ...{ store, lease, account, logger, now, openMedia: options.openMedia },
    configured: (channel, name) => accounts.definition(channel, name) !== undefined,
    random: Math.random,
    onSettled(row, state, detail) {
      trace(row, state, detail);
      if (state === "sent") options.metrics.sent(row.channel, now() - row.createdAt);
      if ((state === "dead" || state === "uncertain" || state === "expired") && row.payload.notice !== true)
        notices.look();
      // To take a draft back says nothing.
      if (state === "sent" && row.payload.parts.length > 0) hooks.observe("message_sent", sentMessage(row));
    },
  });
  // What an earlier process gave up and told nobody of.
  notices.look();
  return {
    ...deliverer,
    stop(drainMs) {
      notices.stop();
      return deliverer.stop(drainMs);
    },
  };
}

const AFTERWARDS: Readonly<Record<string, string>> = {
  dead: "; the message is failed-reported",
  expired: "; the message is expired-reported",
};
