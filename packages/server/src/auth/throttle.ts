import { isIPv6 } from "node:net";

/** Wrong secrets that a peer may send within a minute before it is slowed down. */
const FREE_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Secrets of a slowed peer that are checked per second, on average. */
const CHECKS_PER_SECOND = 50;
const MAX_PEERS = 10_000;

/** Limits how fast a peer can guess secrets. */
export interface Throttle {
  /** Decides if the next secret of the peer is checked. A secret that is not checked may be correct. */
  mayCheck(remote: string): boolean;
  /** Records a wrong secret. */
  failed(remote: string): void;
  /** Returns true if the peer has sent so many wrong secrets that it is slowed down. */
  isSlowed(remote: string): boolean;
}

interface Peer {
  failures: number;
  /** Time of the first failure. */
  since: number;
  /** Second of the latest request. */
  second: number;
  /** Requests in that second. */
  requests: number;
  /** Requests in the second before. */
  previousRequests: number;
}

/**
 * Creates a throttle that, after ten wrong secrets within a minute, checks a random sample of a peer's secrets: about
 * fifty per second, however many it sends. Because the sample is random, an attacker behind the same proxy cannot lock
 * out a user with the right secret: each attempt has the same chance, so the user gets in after a few seconds.
 *
 * @param now milliseconds since the epoch
 * @param random returns numbers in [0, 1)
 */
export function createThrottle(now: () => number, random: () => number): Throttle {
  const peers = new Map<string, Peer>();
  const getPeer = (remote: string): Peer => {
    const key = getNetwork(remote);
    const peer = peers.get(key) ?? { failures: 0, since: now(), second: 0, requests: 0, previousRequests: 0 };
    // Reinserting keeps the map in order of use, so that the first entry is the one to evict.
    peers.delete(key);
    peers.set(key, peer);
    const [oldest] = peers.keys();
    if (peers.size > MAX_PEERS && oldest !== undefined) peers.delete(oldest);
    if (now() - peer.since >= WINDOW_MS) Object.assign(peer, { failures: 0, since: now() });
    return peer;
  };
  return {
    mayCheck(remote) {
      const peer = getPeer(remote);
      const second = Math.floor(now() / 1000);
      if (second !== peer.second) {
        const previousRequests = second === peer.second + 1 ? peer.requests : 0;
        Object.assign(peer, { second, requests: 0, previousRequests });
      }
      peer.requests += 1;
      if (peer.failures < FREE_FAILURES) return true;
      return random() * Math.max(peer.requests, peer.previousRequests) < CHECKS_PER_SECOND;
    },
    failed(remote) {
      const peer = getPeer(remote);
      if (peer.failures === 0) peer.since = now();
      peer.failures += 1;
    },
    isSlowed: (remote) => getPeer(remote).failures >= FREE_FAILURES,
  };
}

/** Returns the /64 network of an IPv6 address, because one host controls all addresses of its /64. */
function getNetwork(remote: string): string {
  if (!isIPv6(remote) || remote.startsWith("::ffff:")) return remote;
  const [head = "", tail = ""] = remote.split("::");
  const left = head.split(":").filter((group) => group !== "");
  const right = tail.split(":").filter((group) => group !== "");
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => "0");
  return [...left, ...zeros, ...right].slice(0, 4).join(":");
}
