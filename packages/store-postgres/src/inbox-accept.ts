import { encode, getDedupeKeys, WRITTEN_FORMAT } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import type { Bodies, InboxAccept, InboxAccepted, InboxStore } from "@signalbox/store/types";
import { and, count, eq, isNull, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import { addKeys, assignKeys, removeKeys } from "./dedupe.ts";
import { inboxIdOf, isWaiting } from "./inbox-rows.ts";
import { reserveNumbers } from "./row-numbers.ts";
import { inbox } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/**
 * Creates the methods that accept each event exactly once.
 *
 * @param limit maximum number of unfinished messages. Concurrent calls may exceed it by their number.
 */
export function createAccept<T extends Bodies>(
  { database, nonce }: Context,
  limit: number,
): Pick<InboxStore<T>, "accept" | "acceptAhead"> {
  const accept: InboxStore<T>["accept"] = async (event) => {
    const payload = encodePayload(event);
    const { channel, account, conversationId } = event;
    return database.write(
      (tx) => acceptEvent(tx, event, payload),
      `inbox ${channel} ${account} ${conversationId}`,
    );
  };

  async function acceptEvent(
    tx: Transaction,
    event: InboxAccept<T>,
    payload: string,
  ): Promise<InboxAccepted> {
    const keys = getDedupeKeys(event);
    const [[seq = 0], first, unfinished, isBehind, at] = await Promise.all([
      reserveNumbers(tx, "inbox", 1),
      addKeys(tx, keys, event.receivedAt ?? database.now()),
      countUnfinished(tx, limit),
      hasOthersWaiting(tx, event),
      tx.now,
    ]);
    if (first !== undefined || unfinished >= limit) removeKeys(tx, seq);
    if (first === "pruned") return { outcome: "duplicate" };
    if (first !== undefined)
      return { outcome: "duplicate", id: inboxIdOf(first), seq: first.seq, state: first.state };
    if (unfinished >= limit) return { outcome: "full", unfinished, limit };

    const receivedAt = event.receivedAt ?? at;
    const lease = isBehind ? NO_LEASE : {};
    const row = { ...toRow(event, payload), ...lease, seq, receivedAt, nonce: nonce(receivedAt) };
    tx.send(tx.db.insert(inbox).values(row));
    assignKeys(tx, keys, seq);
    const accepted = { outcome: "accepted", id: inboxIdOf(row), seq, state: row.state } as const;
    return isBehind ? { ...accepted, isUnclaimed: true } : accepted;
  }

  return {
    accept,
    // The commit of the server is durable.
    acceptAhead: async (event) => ({ result: await accept(event), onDisk: Promise.resolve() }),
  };
}

const NO_LEASE = { leaseName: "", leaseEpoch: 0 };

/**
 * Returns true if messages of the same session wait that do not belong to the lease. They are older and must be
 * claimed before this message.
 */
async function hasOthersWaiting({ db }: Transaction, { route, lease }: InboxAccept): Promise<boolean> {
  if (route === undefined || lease === undefined) return false;
  const isOwn = and(eq(inbox.leaseName, lease.name), eq(inbox.leaseEpoch, lease.epoch));
  const rows = await db
    .select({ seq: inbox.seq })
    .from(inbox)
    .where(and(isWaiting(), eq(inbox.sessionKey, route.sessionKey), sql`${isOwn} IS NOT TRUE`))
    .limit(1);
  return rows.length > 0;
}

async function countUnfinished({ db }: Transaction, limit: number): Promise<number> {
  const unfinished = db
    .select({ one: sql`1`.as("one") })
    .from(inbox)
    .where(isNull(inbox.settledAt))
    .limit(limit)
    .as("unfinished");
  const [row] = await db.select({ n: count() }).from(unfinished);
  return row?.n ?? 0;
}

function encodePayload({ payload }: InboxAccept): string {
  if (payload === undefined) throw new StoreError("invalid", "An inbound event needs a payload.");
  return encode(payload, "The payload of an inbound event");
}

function toRow(event: InboxAccept, payload: string) {
  const { channel, account, eventId, messageId, kind, conversationId, senderId, route, lease } = event;
  return {
    state: route === undefined ? ("accepted" as const) : ("queued" as const),
    channel,
    account,
    eventId,
    messageId: messageId ?? null,
    kind,
    conversationId,
    senderId,
    payload,
    sessionKey: route?.sessionKey ?? null,
    agentId: route?.agentId ?? null,
    leaseName: lease?.name ?? "",
    leaseEpoch: lease?.epoch ?? 0,
    format: WRITTEN_FORMAT,
  };
}
