import { hash, timingSafeEqual } from "node:crypto";
import type { Context } from "./context.ts";
import type { Fence } from "./leases.ts";
import { type OutboxRows, prepareOutbox } from "./outbox-rows.ts";
import type { PairingPeerRecord, PairingRequestRecord } from "./records.ts";
import type { Bodies } from "./types/common.ts";
import type { PairingPeer, PairingStore } from "./types/side.ts";

const requestTtlMs = 10 * 60_000;
const openPerAccount = 3;
const maxTries = 5;

/** People read codes aloud and type them as they like: letters count without their case. */
function hashCode(code: string): Buffer {
  return hash("sha256", code.trim().toUpperCase(), "buffer");
}

function toPeer(row: PairingPeerRecord): PairingPeer {
  return {
    channel: row.channel,
    account: row.account,
    peerId: row.peer_id,
    ...(row.label === null ? {} : { label: row.label }),
    approvedAt: row.approved_at,
    approvedBy: row.approved_by,
  };
}

export function createPairingStore<T extends Bodies>(
  { database, queue, now }: Context,
  fence: Fence,
  outbox: OutboxRows<T>,
): PairingStore<T> {
  const open = database.query<[string | null, string | null, number], PairingRequestRecord>(
    `SELECT * FROM pairing_request WHERE (?1 IS NULL OR channel = ?1) AND (?2 IS NULL OR account = ?2)
       AND expires_at > ?3 AND tries < ${maxTries} ORDER BY created_at`,
  );
  const sweep = database.command<[number]>(
    `DELETE FROM pairing_request WHERE expires_at <= ? OR tries >= ${maxTries}`,
  );
  const insert = database.command<[string, string, string, string | null, Buffer, number, number]>(
    `INSERT INTO pairing_request (channel, account, peer_id, label, code_hash, tries, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, 0, ?, ?)`,
  );
  const countTry = database.command<[string, string, string]>(
    "UPDATE pairing_request SET tries = tries + 1 WHERE channel = ? AND account = ? AND peer_id = ?",
  );
  const removeRequest = database.command<[string, string, string]>(
    "DELETE FROM pairing_request WHERE channel = ? AND account = ? AND peer_id = ?",
  );
  const putPeer = database.command<[string, string, string, string | null, number, string]>(
    `INSERT OR REPLACE INTO pairing_peer (channel, account, peer_id, label, approved_at, approved_by)
     VALUES (?, ?, ?, ?, ?, ?)`,
  );
  const peer = database.query<[string, string, string], PairingPeerRecord>(
    "SELECT * FROM pairing_peer WHERE channel = ? AND account = ? AND peer_id = ?",
  );
  const removePeer = database.command<[string, string, string]>(
    "DELETE FROM pairing_peer WHERE channel = ? AND account = ? AND peer_id = ?",
  );
  const peers = database.query<[], PairingPeerRecord>("SELECT * FROM pairing_peer ORDER BY approved_at");

  return {
    async request({ channel, account, peerId, label, code, reply }) {
      const prepared = reply === undefined ? [] : prepareOutbox([reply.row]);
      return queue.write(() => {
        if (reply !== undefined) fence.check(reply.lease);
        if (peer.get(channel, account, peerId) !== undefined) return "approved";
        sweep.run(now());
        const others = open.all(channel, account, now());
        if (others.some((row) => row.peer_id === peerId)) return "pending";
        if (others.length >= openPerAccount) return "full";
        insert.run(channel, account, peerId, label ?? null, hashCode(code), now(), now() + requestTtlMs);
        if (reply !== undefined)
          outbox.insert(prepared, { lease: reply.lease, run: null, runId: null, sessionKey: null, place: 0 });
        return "created";
      });
    },

    approve: ({ code, approvedBy, channel, account }) =>
      queue.write(() => {
        const hashed = hashCode(code);
        const candidates = open.all(channel ?? null, account ?? null, now());
        const match = candidates.find((row) => timingSafeEqual(row.code_hash, hashed));
        if (match === undefined) {
          for (const row of candidates) countTry.run(row.channel, row.account, row.peer_id);
          return { outcome: "unknown" };
        }
        removeRequest.run(match.channel, match.account, match.peer_id);
        putPeer.run(match.channel, match.account, match.peer_id, match.label, now(), approvedBy);
        const approved = { ...match, approved_at: now(), approved_by: approvedBy };
        return { outcome: "approved", peer: toPeer(approved) };
      }),

    isApproved: (channel, account, peerId) =>
      queue.read(() => peer.get(channel, account, peerId) !== undefined),
    revoke: (channel, account, peerId) => queue.write(() => removePeer.run(channel, account, peerId) > 0),
    pending: () =>
      queue.read(() =>
        open.all(null, null, now()).map((row) => ({
          channel: row.channel,
          account: row.account,
          peerId: row.peer_id,
          ...(row.label === null ? {} : { label: row.label }),
          createdAt: row.created_at,
          expiresAt: row.expires_at,
        })),
      ),
    peers: () => queue.read(() => peers.all().map(toPeer)),
  };
}
