import { isIPv6 } from "node:net";

/** Wrong secrets that a peer may show within a minute before it is slowed down. */
const FREE = 10;
const WINDOW_MS = 60_000;
/** How many secrets of a slowed peer are looked at in a second, on average. */
const LOOKS = 50;
const MOST_PEERS = 10_000;

/** Slows guessing down, by the peer that guesses. */
export interface Throttle {
  /** Whether a secret of the peer is looked at. What is not looked at may be right. */
  looks(remote: string): boolean;
  /** The peer has shown a wrong secret. */
  failed(remote: string): void;
  /** Whether the peer has shown so many that it is slowed down. */
  isSlowed(remote: string): boolean;
}

interface Peer {
  failures: number;
  /** When the first of them happened. */
  since: number;
  /** The second in which it asked last, how often in it, and how often in the one before. */
  second: number;
  asked: number;
  askedBefore: number;
}

/**
 * After ten wrong secrets within a minute, a peer's secrets are checked at random, about fifty a second however many it
 * sends. The choice is blind: a flood cannot choose its moment, and someone with the right secret behind the same proxy
 * has the same chance at each try. They wait for some seconds and are never locked out.
 */
export function createThrottle(now: () => number, random: () => number): Throttle {
  const peers = new Map<string, Peer>();
  const peerOf = (remote: string): Peer => {
    const key = networkOf(remote);
    const peer = peers.get(key) ?? { failures: 0, since: now(), second: 0, asked: 0, askedBefore: 0 };
    // The one that was heard of longest ago is the first in the map, and is forgotten first.
    peers.delete(key);
    peers.set(key, peer);
    const [oldest] = peers.keys();
    if (peers.size > MOST_PEERS && oldest !== undefined) peers.delete(oldest);
    if (now() - peer.since >= WINDOW_MS) Object.assign(peer, { failures: 0, since: now() });
    return peer;
  };
  return {
    looks(remote) {
      const peer = peerOf(remote);
      const second = Math.floor(now() / 1000);
      if (second !== peer.second) {
        const askedBefore = second === peer.second + 1 ? peer.asked : 0;
        Object.assign(peer, { second, asked: 0, askedBefore });
      }
      peer.asked += 1;
      if (peer.failures < FREE) return true;
      return random() * Math.max(peer.asked, peer.askedBefore) < LOOKS;
    },
    failed(remote) {
      const peer = peerOf(remote);
      if (peer.failures === 0) peer.since = now();
      peer.failures += 1;
    },
    isSlowed: (remote) => peerOf(remote).failures >= FREE,
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
