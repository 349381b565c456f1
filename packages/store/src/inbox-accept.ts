import { and, count, eq, isNull } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound } from "./database.ts";
import type { DedupeIndex } from "./dedupe.ts";
import { type DedupeKey, getDedupeKeys } from "./dedupe-keys.ts";
import type { Entries } from "./entries.ts";
import { StoreError } from "./errors.ts";
import { type InboundBody, inboxIdOf } from "./inbox-rows.ts";
import { encode } from "./json.ts";
import { account as accountTable, inbox } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { InboxAccept, InboxStore } from "./types/inbox.ts";

interface Parts {
  readonly entries: Entries;
  readonly dedupe: DedupeIndex;
  /** Maximum number of unfinished messages. */
  readonly limit: number;
}

/** Creates the methods that accept each event exactly once. */
export function createAccept<T extends Bodies>(
  { database, queue, now, nonce }: Context,
  { entries, dedupe, limit }: Parts,
): Pick<InboxStore<T>, "accept" | "acceptAhead"> {
  const { db } = database;
  const insert = database.insert(inbox);
  const unfinished = database.query(() =>
    db.select({ n: count() }).from(inbox).where(isNull(inbox.settledAt)),
  );
  const accountOf = database.query((p: Bound<{ channel: string; account: string }>) =>
    db
      .select()
      .from(accountTable)
      .where(and(eq(accountTable.channel, p("channel")), eq(accountTable.account, p("account")))),
  );
  const addAccount = database.insert(accountTable);

  let open = { transaction: -1, count: 0 };
  /** Counts once per transaction. Does not subtract messages that end within the transaction. */
  function openCount(): number {
    if (open.transaction !== queue.transaction) {
      open = { transaction: queue.transaction, count: unfinished.get()?.n ?? 0 };
    }
    return open.count;
  }

  function add(event: InboxAccept<T>, keys: readonly DedupeKey[], body: string, receivedAt: number) {
    const { channel, account, route } = event;
    const row = {
      nonce: nonce(receivedAt),
      state: route === undefined ? "accepted" : "queued",
      entry: entries.add("inbound", body, { at: receivedAt }),
      sessionKey: route?.sessionKey ?? null,
      agentId: route?.agentId ?? null,
      receivedAt,
      leaseName: event.lease?.name ?? "",
      leaseEpoch: event.lease?.epoch ?? 0,
    } as const;
    const seq = insert.run(row).rowNumber;
    if (accountOf.get({ channel, account }) === undefined) addAccount.run({ channel, account });
    dedupe.add(keys, seq, receivedAt);
    open.count += 1;
    return { id: inboxIdOf({ ...row, seq }), seq, state: row.state };
  }

  const acceptAhead: InboxStore<T>["acceptAhead"] = async (event) => {
    const body = bodyOf(event);
    const keys = getDedupeKeys(event);
    const receivedAt = event.receivedAt ?? now();
    return queue.writeAhead(() => {
      const [seen] = keys.flatMap((key) => dedupe.find(key) ?? []);
      if (seen === "pruned") return { outcome: "duplicate" };
      if (seen !== undefined) {
        const { seq, state } = seen.row;
        return { outcome: "duplicate", id: inboxIdOf(seen.row), seq, state };
      }
      const unfinishedNow = openCount();
      if (unfinishedNow >= limit) return { outcome: "full", unfinished: unfinishedNow, limit };
      return { outcome: "accepted", ...add(event, keys, body, receivedAt) };
    });
  };

  return {
    acceptAhead,
    async accept(event) {
      const { result, onDisk } = await acceptAhead(event);
      await onDisk;
      return result;
    },
  };
}

function bodyOf<T extends Bodies>(event: InboxAccept<T>): string {
  const { channel, account, eventId, messageId, kind, conversationId, senderId, payload } = event;
  if (payload === undefined) throw new StoreError("invalid", "An inbound event needs a payload.");
  const body: InboundBody<T> = {
    channel,
    account,
    eventId,
    messageId,
    kind,
    conversationId,
    senderId,
    payload,
  };
  return encode(body, "The payload of an inbound event");
}
