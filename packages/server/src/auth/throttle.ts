import { isIPv6 } from "node:net";

const GUESSES = 10;
const WINDOW_MS = 60_000;
const MOST_PEERS = 10_000;

/** Slows guessing down, by the peer that guesses. */
export interface Throttle {
  /** Milliseconds until a wrong secret of the peer is looked at again; 0 where it is looked at now. */
  waitMs(remote: string): number;
  /** Whether the peer has shown a right secret before. */
  isKnown(remote: string): boolean;
  failed(remote: string): void;
  /** The peer has shown that it knows a secret. */
  proved(remote: string): void;
}

interface Peer {
  failures: number;
  /** When the first of them happened. */
  since: number;
  isKnown: boolean;
}

/**
 * After ten wrong secrets a peer has to wait until a minute has passed since the first, and is refused meanwhile
 * without a look at what it says: guessing goes on at ten a minute, however short the secret. Of a peer that has shown
 * a right secret before, a right one is taken all the same, so that nobody is locked out by who guesses from behind the
 * same proxy; there the length of the secret alone protects it.
 */
export function createThrottle(now: () => number): Throttle {
  const peers = new Map<string, Peer>();
  const peerOf = (remote: string): Peer => {
    const key = networkOf(remote);
    const peer = peers.get(key) ?? { failures: 0, since: now(), isKnown: false };
    // The one that was heard of longest ago is the first in the map, and is forgotten first.
    peers.delete(key);
    peers.set(key, peer);
    const [oldest] = peers.keys();
    if (peers.size > MOST_PEERS && oldest !== undefined) peers.delete(oldest);
    if (now() - peer.since >= WINDOW_MS) Object.assign(peer, { failures: 0, since: now() });
    return peer;
  };
  return {
    waitMs(remote) {
      const { failures, since } = peerOf(remote);
      return failures < GUESSES ? 0 : since + WINDOW_MS - now();
    },
    isKnown: (remote) => peerOf(remote).isKnown,
    failed(remote) {
      const peer = peerOf(remote);
      if (peer.failures === 0) peer.since = now();
      peer.failures += 1;
    },
    proved(remote) {
      peerOf(remote).isKnown = true;
    },
  };
}

/** Whoever has one IPv6 address has the 2^64 of its network. */
function networkOf(remote: string): string {
  if (!isIPv6(remote) || remote.startsWith("::ffff:")) return remote;
  const [head = "", tail = ""] = remote.split("::");
  const left = head.split(":").filter((group) => group !== "");
  const right = tail.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
