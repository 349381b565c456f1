import { hash, timingSafeEqual } from "node:crypto";
import { prepareOutbox } from "@signalbox/store/backend";
import type { Bodies, PairingPeer, PairingStore } from "@signalbox/store/types";
import { and, asc, eq, gt, gte, lt, lte, or, type SQL, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { lockNames } from "./locks.ts";
import type { ReadOutbox } from "./outbox-insert.ts";
import { type PairingPeerRecord, pairingPeer, pairingRequest } from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

const requestTtlMs = 10 * 60_000;
const openPerAccount = 3;
const maxTries = 5;
/** There are few requests, so one lock for all of them is enough. */
const LOCK = "pairing";

/** A person who uses an account. */
interface Peer {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
}

/** Hashes a code, ignoring case and surrounding spaces, because people read codes aloud and type them. */
function hashCode(code: string): Buffer {
  return hash("sha256", code.trim().toUpperCase(), "buffer");
}

function withLabel<R extends Peer & { readonly label: string | null }>({ label, ...row }: R) {
  return { ...row, ...(label === null ? {} : { label }) };
}

const isPeer = (
  table: typeof pairingPeer | typeof pairingRequest,
  { channel, account, peerId }: Peer,
): SQL | undefined => and(eq(table.channel, channel), eq(table.account, account), eq(table.peerId, peerId));

export function createPairingStore<T extends Bodies>(
  { database }: Context,
  fence: Fence,
  readOutbox: ReadOutbox<T>,
): PairingStore<T> {
  const isOpen = () => and(gt(pairingRequest.expiresAt, database.now()), lt(pairingRequest.tries, maxTries));

  /** Returns the open requests of one account, or of all accounts if no account is given. */
  const selectOpen = (db: Transaction["db"], channel?: string, account?: string) =>
    db
      .select()
      .from(pairingRequest)
      .where(
        and(
          isOpen(),
          channel === undefined ? undefined : eq(pairingRequest.channel, channel),
          account === undefined ? undefined : eq(pairingRequest.account, account),
        ),
      )
      .orderBy(asc(pairingRequest.createdAt));

  return {
    async request({ channel, account, peerId, label, code, reply }) {
      const prepared = reply === undefined ? [] : prepareOutbox([reply.row]);
      const peer = { channel, account, peerId };
      return database.write(async (tx) => {
        const { db, send } = tx;
        const isClosed = or(
          lte(pairingRequest.expiresAt, database.now()),
          gte(pairingRequest.tries, maxTries),
        );
        const checked = reply === undefined ? undefined : fence.check(tx, reply.lease);
        lockNames(tx, [LOCK]);
        send(db.delete(pairingRequest).where(isClosed));
        const [, [approved], others, insert, at] = await Promise.all([
          checked,
          db.select().from(pairingPeer).where(isPeer(pairingPeer, peer)),
          selectOpen(db, channel, account),
          reply === undefined ? undefined : readOutbox(tx, prepared),
          tx.now,
        ]);
        if (approved !== undefined) return "approved";
        if (others.some((row) => row.peerId === peerId)) return "pending";
        if (others.length >= openPerAccount) return "full";
        const times = { createdAt: at, expiresAt: at + requestTtlMs };
        const row = { ...peer, label: label ?? null, codeHash: hashCode(code), ...times };
        send(db.insert(pairingRequest).values(row));
        if (reply !== undefined) insert?.(prepared, { lease: reply.lease }, at);
        return "created";
      });
    },

    approve: ({ code, approvedBy, channel, account }) =>
      database.write(async (tx) => {
        const { db, send } = tx;
        lockNames(tx, [LOCK]);
        const [candidates, approvedAt] = await Promise.all([selectOpen(db, channel, account), tx.now]);
        const hashed = hashCode(code);
        const match = candidates.find((row) => timingSafeEqual(row.codeHash, hashed));
        if (match === undefined) {
          const tries = sql`${pairingRequest.tries} + 1`;
          for (const row of candidates)
            send(db.update(pairingRequest).set({ tries }).where(isPeer(pairingRequest, row)));
          return { outcome: "unknown" };
        }
        send(db.delete(pairingRequest).where(isPeer(pairingRequest, match)));
        const { codeHash: _, tries: __, createdAt: ___, expiresAt: ____, ...peer } = match;
        const approved: PairingPeerRecord = { ...peer, approvedAt, approvedBy };
        const target = [pairingPeer.channel, pairingPeer.account, pairingPeer.peerId];
        send(db.insert(pairingPeer).values(approved).onConflictDoUpdate({ target, set: approved }));
        return { outcome: "approved", peer: withLabel(approved) };
      }),

    isApproved: (channel, account, peerId) =>
      database.query(async (db) => {
        const where = isPeer(pairingPeer, { channel, account, peerId });
        return (await db.select().from(pairingPeer).where(where)).length > 0;
      }),
    revoke: (channel, account, peerId) =>
      database.write(async ({ db, change }) => {
        const where = isPeer(pairingPeer, { channel, account, peerId });
        return (await change(db.delete(pairingPeer).where(where))) > 0;
      }),
    pending: () =>
      database.query(async (db) =>
        (await selectOpen(db)).map(({ codeHash: _, tries: __, ...request }) => withLabel(request)),
      ),
    peers: () =>
      database.query(async (db) => {
        const rows = await db.select().from(pairingPeer).orderBy(asc(pairingPeer.approvedAt));
        return rows.map((row): PairingPeer => withLabel(row));
      }),
  };
}
