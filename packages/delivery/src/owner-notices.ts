import { type Clock, type Json, reasonOf, systemClock } from "@signalbox/channel";
import { type GivenUpCounts, type Phrases, phrasesIn } from "@signalbox/phrases";
import type { DeliveryAccount } from "./account.ts";
import type { NoteStore } from "./drafts.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { LeaseToken, Millis, OutboxStore } from "./outbox.ts";
import { outboxKey, outboxRow, REPLY_TTL_MS } from "./rows.ts";

export interface OwnerNoticesOptions {
  readonly outbox: Pick<OutboxStore, "enqueue" | "list">;
  readonly lease: LeaseToken;
  /** Remembers up to where owners have been told. */
  readonly notes: Pick<NoteStore, "get"> & {
    set(namespace: string, key: string, value: Json): Promise<void>;
  };
  /** Immutable ids, written `channel:id`. */
  readonly owners: () => readonly string[];
  /** The accounts of a channel that run. */
  readonly accounts: (channel: string) => readonly DeliveryAccount[];
  /** Where a person last wrote, ids of people being an app's own on some platforms, and the words for them. */
  readonly lastHeardOf: (channel: string, person: string) => Promise<LastHeard | undefined>;
  /** Has the outbox looked through. */
  readonly wakeOutbox: () => void;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** How long is gathered, and how far apart notices are, in milliseconds. Default 2 s and 10 min. */
  readonly timing?: { readonly gatherMs: number; readonly apartMs: number };
}

interface LastHeard {
  readonly account: string;
  readonly phrases: Phrases;
}

/** Tells owners in a direct message how many replies were given up: what they may read, and how to see more. */
export interface OwnerNotices {
  /** Something was given up, perhaps by an earlier process: looks soon. */
  look(): void;
  stop(): void;
}

const TIMING = { gatherMs: 2_000, apartMs: 10 * 60_000 };
const OPEN_MS = 10_000;
/** Rows read at once, and how many times as many one notice tells exactly. */
const PAGE = 1_000;
const PAGES = 10;

/** Up to where owners have been told of rows that were given up. */
interface Told {
  readonly at: Millis;
  readonly id?: string;
}

/** Rows given up. `upTo` has no id where there were more than are counted. */
interface GivenUp {
  readonly counts: GivenUpCounts;
  readonly upTo: Told | undefined;
}

export function createOwnerNotices(options: OwnerNoticesOptions): OwnerNotices {
  return new Notices(options);
}

class Notices implements OwnerNotices {
  readonly #options: OwnerNoticesOptions;
  readonly #clock: Clock;
  readonly #gatherMs: number;
  readonly #apartMs: number;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  #looking = false;
  /** Something was given up since the look that goes on began. */
  #more = false;
  #lastAt: number = Number.NEGATIVE_INFINITY;

  constructor(options: OwnerNoticesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { gatherMs, apartMs } = options.timing ?? TIMING;
    this.#gatherMs = gatherMs;
    this.#apartMs = apartMs;
    this.#now = this.#clock.now;
  }

  look(): void {
    if (this.#stopping.signal.aborted || this.#options.owners().length === 0) return;
    this.#more = true;
    if (this.#looking) return;
    this.#looking = true;
    this.#clock
      .delay(Math.max(this.#gatherMs, this.#lastAt + this.#apartMs - this.#now()), this.#stopping.signal)
      .then(
        async () => {
          this.#more = false;
          const told = await this.#tell();
          this.#looking = false;
          if (!told || this.#more) this.look();
        },
        () => {},
      );
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Whether everybody who is to be told has been. */
  async #tell(): Promise<boolean> {
    const { notes, owners, logger } = this.#options;
    try {
      const { counts, upTo } = await this.#givenUpSince(
        toldOf(await notes.get("undelivered", "told"), this.#now()),
      );
      if (upTo === undefined) return true;
      if (counts.length > 0) {
        this.#lastAt = this.#now();
        const reached = await Promise.all(owners().map((owner) => this.#tellOwner(owner, counts, upTo)));
        if (!reached.includes(true)) return false;
      }
      await notes.set("undelivered", "told", { ...upTo });
      this.#options.wakeOutbox();
      return true;
    } catch (error) {
      this.#lastAt = this.#now();
      logger.warn({ err: reasonOf(error) }, "owners could not be told of undelivered replies");
      return false;
    }
  }

  async #givenUpSince(told: Told): Promise<GivenUp> {
    const counts: { state: string; account: string; count: number }[] = [];
    let upTo: Told | undefined;
    // More may yet be given up in this very millisecond, in front of what is there.
    const before = this.#now();
    for (let page = 0; page < PAGES; page++) {
      const rows = await this.#options.outbox.list({ changedAfter: upTo ?? told, limit: PAGE });
      for (const { state, channel, account, payload, updatedAt, id } of rows) {
        if (updatedAt >= before) return { counts, upTo };
        upTo = { at: updatedAt, id };
        if (payload.notice === true) continue;
        const of = { state, account: `${channel}/${account}` };
        const counted = counts.find((one) => one.state === of.state && one.account === of.account);
        if (counted === undefined) counts.push({ ...of, count: 1 });
        else counted.count += 1;
      }
      if (rows.length < PAGE) return { counts, upTo };
    }
    return { counts, upTo: { at: before - 1 } };
  }

  /** Whether an account could write to the owner. */
  async #tellOwner(owner: string, counts: GivenUpCounts, upTo: Told): Promise<boolean> {
    const { outbox, lease, logger } = this.#options;
    const [channel = "", ...rest] = owner.split(":");
    const person = rest.join(":");
    const last = await this.#options.lastHeardOf(channel, person);
    const { givenUp } = last?.phrases ?? phrasesIn("en");
    // No word of what was to be said: owners of the gateway are not of each conversation.
    const text = givenUp(counts, upTo.id === undefined);
    const accounts = this.#options
      .accounts(channel)
      .toSorted((a, b) => Number(b.account === last?.account) - Number(a.account === last?.account));
    for (const { account, definition, running } of accounts) {
      try {
        const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(OPEN_MS)]);
        const address = await running.openDirect?.(person, limit);
        if (address === undefined) continue;
        const destination = { channel, account, address: definition.codec.encode(address) };
        const payload = { parts: [{ type: "text" as const, text }], notice: true };
        const row = outboxRow(destination, payload, { expiresAt: this.#now() + REPLY_TTL_MS, claim: false });
        // Told again after a crash it is the same message.
        const key = outboxKey("undelivered", owner, account, `${upTo.at} ${upTo.id ?? ""}`);
        await outbox.enqueue([{ ...row, key }], { lease });
        return true;
      } catch (error) {
        logger.debug({ channel, account, err: reasonOf(error) }, "an owner cannot be written to");
      }
    }
    return false;
  }
}

/** Of a clock that was ahead nothing is believed: better told twice than never. */
function toldOf(value: Json | undefined, now: Millis): Told {
  if (typeof value !== "object" || value === null || !("at" in value)) return { at: 0 };
  const { at } = value;
  if (typeof at !== "number" || at > now) return { at: 0 };
  return { at, ...("id" in value && typeof value.id === "string" ? { id: value.id } : {}) };
}
