import { hash, timingSafeEqual } from "node:crypto";
import { and, asc, eq, gt, gte, lt, lte, or, sql } from "drizzle-orm";
import type { Context } from "./context.ts";
import type { Bound, Database } from "./database.ts";
import type { Fence } from "./leases.ts";
import type { InsertOutbox } from "./outbox-insert.ts";
import { prepareOutbox } from "./outbox-prepare.ts";
import { type PairingPeerRecord, pairingPeer, pairingRequest } from "./schema/index.ts";
import type { Bodies } from "./types/common.ts";
import type { PairingPeer, PairingStore } from "./types/pairing.ts";

const requestTtlMs = 10 * 60_000;
const openPerAccount = 3;
const maxTries = 5;

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

function prepareStatements(database: Database) {
  const { db } = database;
  const ofPeer = (table: typeof pairingPeer | typeof pairingRequest, p: Bound<Peer>) =>
    and(eq(table.channel, p("channel")), eq(table.account, p("account")), eq(table.peerId, p("peerId")));
  return {
    open: database.query((p: Bound<{ at: number }>) =>
      db
        .select()
        .from(pairingRequest)
        .where(and(gt(pairingRequest.expiresAt, p("at")), lt(pairingRequest.tries, maxTries)))
        .orderBy(asc(pairingRequest.createdAt)),
    ),
    sweep: database.command((p: Bound<{ at: number }>) =>
      db
        .delete(pairingRequest)
        .where(or(lte(pairingRequest.expiresAt, p("at")), gte(pairingRequest.tries, maxTries))),
    ),
    insert: database.insert(pairingRequest),
    countTry: database.command((p: Bound<Peer>) =>
      db
        .update(pairingRequest)
        .set({ tries: sql`${pairingRequest.tries} + 1` })
        .where(ofPeer(pairingRequest, p)),
    ),
    removeRequest: database.command((p: Bound<Peer>) =>
      db.delete(pairingRequest).where(ofPeer(pairingRequest, p)),
    ),
    putPeer: database.replace(pairingPeer, [pairingPeer.channel, pairingPeer.account, pairingPeer.peerId]),
    peer: database.query((p: Bound<Peer>) => db.select().from(pairingPeer).where(ofPeer(pairingPeer, p))),
    removePeer: database.command((p: Bound<Peer>) => db.delete(pairingPeer).where(ofPeer(pairingPeer, p))),
    peers: database.query(() => db.select().from(pairingPeer).orderBy(asc(pairingPeer.approvedAt))),
  };
}

export function createPairingStore<T extends Bodies>(
  { database, queue, now }: Context,
  fence: Fence,
  insertOutbox: InsertOutbox<T>,
): PairingStore<T> {
  const statements = prepareStatements(database);

  /** Returns the open requests of one account, or of all accounts if no account is given. There are only a few. */
  function openOn(channel: string | undefined, account: string | undefined) {
    return statements.open
      .all({ at: now() })
      .filter((row) => (channel ?? row.channel) === row.channel && (account ?? row.account) === row.account);
  }

  return {
    async request({ channel, account, peerId, label, code, reply }) {
      const prepared = reply === undefined ? [] : prepareOutbox([reply.row]);
      return queue.write(() => {
        if (reply !== undefined) fence.check(reply.lease);
        if (statements.peer.get({ channel, account, peerId }) !== undefined) return "approved";
        statements.sweep.run({ at: now() });
        const others = openOn(channel, account);
        if (others.some((row) => row.peerId === peerId)) return "pending";
        if (others.length >= openPerAccount) return "full";
        statements.insert.run({
          channel,
          account,
          peerId,
          label: label ?? null,
          codeHash: hashCode(code),
          createdAt: now(),
          expiresAt: now() + requestTtlMs,
        });
        if (reply !== undefined) insertOutbox(prepared, { lease: reply.lease });
        return "created";
      });
    },

    approve: ({ code, approvedBy, channel, account }) =>
      queue.write(() => {
        const hashed = hashCode(code);
        const candidates = openOn(channel, account);
        const match = candidates.find((row) => timingSafeEqual(row.codeHash, hashed));
        if (match === undefined) {
          for (const row of candidates) statements.countTry.run(row);
          return { outcome: "unknown" };
        }
        statements.removeRequest.run(match);
        const approved: PairingPeerRecord = {
          channel: match.channel,
          account: match.account,
          peerId: match.peerId,
          label: match.label,
          approvedAt: now(),
          approvedBy,
        };
        statements.putPeer.run(approved);
        return { outcome: "approved", peer: withLabel(approved) };
      }),

    isApproved: (channel, account, peerId) =>
      queue.read(() => statements.peer.get({ channel, account, peerId }) !== undefined),
    revoke: (channel, account, peerId) =>
      queue.write(() => statements.removePeer.run({ channel, account, peerId }).changes > 0),
    pending: () =>
      queue.read(() =>
        statements.open
          .all({ at: now() })
          .map(({ codeHash: _, tries: __, ...request }) => withLabel(request)),
      ),
    peers: () => queue.read(() => statements.peers.all().map((row): PairingPeer => withLabel(row))),
  };
}
