import { reasonOf } from "@signalbox/agent-core";
import type { SendOptions } from "@signalbox/channel";
import {
  createNotifyingDelivery,
  type DeliveryOutcome,
  type NotifyingDelivery,
  type OutboxRow,
} from "@signalbox/delivery";
import { getPhrases } from "./configure/get-phrases.ts";
import type { CoreContext } from "./core-context.ts";
import { sentMessage } from "./hooks/message-sent.ts";
import { findLastText } from "./messages/find-last-text.ts";

export type ReplyDelivery = NotifyingDelivery;

/** Creates the delivery of replies and reports every outcome to traces, hooks and metrics. */
export function createReplyDelivery(
  core: CoreContext,
  openMedia: NonNullable<SendOptions["openMedia"]>,
): ReplyDelivery {
  const {
    store,
    lease,
    leaseTerm,
    config,
    accounts,
    hooks,
    metrics,
    replyWindows,
    maintenanceLease,
    logger,
    now,
  } = core;
  return createNotifyingDelivery({
    lease,
    // No other process can take over the rows of a store that is not shared.
    ...(store.isShared
      ? { getLeaseMs: leaseTerm.getMsLeft, unableToSend: () => accounts.unableToSend() }
      : {}),
    outbox: store.outbox,
    notes: store.kv,
    notifies: maintenanceLease.isHeld,
    account: core.getAccount,
    openMedia,
    logger,
    owners: () => config.current().settings.access.owners,
    peers: () => store.pairing.peers(),
    // Another gateway may have an account that this one does not have yet, while the configuration is being changed.
    configured: (channel, name) => core.getChannel(channel, name) !== undefined || !maintenanceLease.isHeld(),
    accountsOf: (channel) => accounts.list().filter((one) => one.channel === channel),
    async getLastContact(channel, peer) {
      const [session] = await store.sessions.list({ channel, peer, limit: 1 });
      if (session === undefined) return undefined;
      const { key: sessionKey, agentId, account } = session;
      const text = await findLastText(store, { sessionKey, senderId: peer });
      return { account, phrases: getPhrases(core, { agentId, stored: { event: { text } } }) };
    },
    async getLanguage({ sessionKey }) {
      const session = sessionKey === undefined ? undefined : await store.sessions.get(sessionKey);
      return session && config.current().agents.get(session.agentId)?.language;
    },
    onOutcome(row, state, detail) {
      trace(core, row, state, detail);
      metrics.delivered(row.channel, state);
      if (state === "sent") replyWindows.sent(row, row.payload.parts.length);
      if (state === "sent") metrics.sent(row.channel, now() - row.createdAt);
      // A withdrawn draft does not count as a message.
      if (state === "sent" && row.payload.parts.length > 0) hooks.observe("message_sent", sentMessage(row));
    },
  });
}

const CONSEQUENCES: Readonly<Record<string, string>> = {
  dead: "; the message is unreported until a notice is sent",
  expired: "; the message is unreported until a notice is sent",
};

/** Record the outcome of every outbox row, including replies from earlier processes and answers without a run. */
function trace(
  { store, tracer, logger }: CoreContext,
  row: OutboxRow,
  state: DeliveryOutcome,
  detail: string,
): void {
  const isNotice = row.payload.notice === true;
  const what = isNotice ? "notice " : "";
  const then = isNotice ? "" : (CONSEQUENCES[state] ?? "");
  store.outbox.answers(row.id).then(
    (ids) => {
      for (const id of ids)
        tracer.note(id, "deliver", `${what}${state}: ${detail}${then}`, { outbox: row.id });
    },
    (error: unknown) => logger.warn({ err: reasonOf(error) }, "a trace could not be written"),
  );
}
