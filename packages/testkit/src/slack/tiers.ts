/**
 * Calls per minute that Slack allows for each method. Sources: the reference page of each method, and for
 * `conversations.history` and `conversations.replies` the changelog of May 2025: one per minute for apps that are
 * distributed outside the marketplace.
 */
const tier = { special: 60, two: 20, three: 50, four: 100 } as const;

const tiers: Readonly<Record<string, number>> = {
  "chat.startStream": tier.two,
  "chat.appendStream": tier.four,
  "chat.stopStream": tier.two,
  "chat.update": tier.three,
  "chat.delete": tier.three,
  "conversations.history": tier.three,
  "conversations.replies": tier.three,
  "conversations.info": tier.three,
  "conversations.open": tier.three,
  "users.info": tier.four,
  "reactions.add": tier.three,
  "reactions.remove": tier.two,
  "files.info": tier.four,
};

const minuteMs = 60_000;

/** Counts calls by method, and calls of `chat.postMessage` by conversation: one per second, with a short burst. */
export class Tiers {
  readonly #now: () => number;
  readonly #calls = new Map<string, number[]>();
  readonly #limited: boolean;

  /** @param limited true if the app may read history only once a minute */
  constructor(now: () => number, limited: boolean) {
    this.#now = now;
    this.#limited = limited;
  }

  /** Counts a call. Returns 0, or the seconds to wait if the call is over the limit. */
  take(method: string, channel: string | undefined): number {
    if (method === "chat.postMessage") return this.#count(`${method} ${channel}`, 5, 5_000);
    const isRead = method === "conversations.history" || method === "conversations.replies";
    const most = this.#limited && isRead ? 1 : tiers[method];
    return most === undefined ? 0 : this.#count(method, most, minuteMs);
  }

  #count(key: string, most: number, spanMs: number): number {
    const now = this.#now();
    const recent = (this.#calls.get(key) ?? []).filter((at) => at > now - spanMs);
    this.#calls.set(key, recent);
    const [oldest = now] = recent;
    if (recent.length >= most) return Math.max(1, Math.ceil((oldest + spanMs - now) / 1000));
    recent.push(now);
    return 0;
  }
}
