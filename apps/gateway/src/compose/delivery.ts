import { reasonOf } from "@signalbox/agent-core";
import type { SendOptions } from "@signalbox/channel";
import { createNotifyingDelivery, type DeliveryState, type NotifyingDelivery } from "@signalbox/delivery";
import { phrasesFor } from "@signalbox/phrases";
import { isPassing, type LeaseToken, type OutboxRow } from "@signalbox/store";
import type { Metrics } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import { lastWords } from "../api/last-words.ts";
import type { Accounts } from "../configure/accounts.ts";
import type { Agents } from "../configure/agents.ts";
import type { GatewayHooks } from "../hooks/hook-points.ts";
import { sentMessage } from "../hooks/message-sent.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { Tracer } from "../traces.ts";

export interface DeliveryOptions {
  readonly owners: readonly string[];
  readonly agents: Pick<Agents, "get">;
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

export type ReplyDelivery = NotifyingDelivery<Row>;

/** Delivers replies, and has traces, hooks and metrics hear how that went. */
export function createReplyDelivery(options: DeliveryOptions): ReplyDelivery {
  const { store, agents, accounts, hooks, now } = options;
  return createNotifyingDelivery<Row>({
    ...options,
    outbox: store.outbox,
    notes: store.kv,
    peers: () => store.pairing.peers(),
    isPassing,
    configured: (channel, name) => accounts.definition(channel, name) !== undefined,
    accountsOf: (channel) => accounts.list().filter((one) => one.channel === channel),
    async lastHeardOf(channel, peer) {
      const [session] = await store.sessions.list({ channel, peer, limit: 1 });
      if (session === undefined) return undefined;
      const { key: sessionKey, agentId, account } = session;
      const words = await lastWords(store, { sessionKey, senderId: peer });
      return { account, phrases: phrasesFor(agents.get(agentId)?.language, words) };
    },
    async languageOf({ sessionKey }) {
      const session = sessionKey === undefined ? undefined : await store.sessions.get(sessionKey);
      return session && agents.get(session.agentId)?.language;
    },
    onSettled(row, state, detail) {
      trace(options, row, state, detail);
      if (state === "sent") options.metrics.sent(row.channel, now() - row.createdAt);
      // To take a draft back says nothing.
      if (state === "sent" && row.payload.parts.length > 0) hooks.observe("message_sent", sentMessage(row));
    },
  });
}

const AFTERWARDS: Readonly<Record<string, string>> = {
  dead: "; the message is failed-reported",
  expired: "; the message is expired-reported",
};

/** From the outbox itself, so that replies of an earlier process and answers without a run have their note, too. */
function trace(
  { store, tracer, logger }: DeliveryOptions,
  row: Row,
  state: DeliveryState,
  detail: string,
): void {
  const then = AFTERWARDS[state] ?? "";
  store.outbox.answers(row.id).then(
    (ids) => {
      for (const id of ids) tracer.note(id, "outbox", `${state}: ${detail}${then}`, { outbox: row.id });
    },
    (error: unknown) => logger.warn({ err: reasonOf(error) }, "a trace could not be written"),
  );
}
