import type { LeaseToken } from "@signalbox/store";
import type { Account } from "./channels.ts";
import { messageOf } from "./errors.ts";
import type { Logger } from "./log.ts";
import { keyOf, outboxRow } from "./path/outbox-row.ts";
import type { GatewayStore } from "./path/stored.ts";

export interface OwnerNoticesOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  /** Immutable ids, written channel:id. */
  readonly owners: readonly string[];
  /** The accounts of a channel that run, by name. */
  readonly accounts: (channel: string) => readonly (readonly [name: string, account: Account])[];
  readonly wakeOutbox: () => void;
  readonly logger: Logger;
  readonly now: () => number;
  /** How long is gathered, and how far apart notices are, in milliseconds. Default 2 s and 10 min. */
  readonly timing?: { readonly gatherMs: number; readonly apartMs: number };
}

/** Tells owners in a direct message how many replies were given up: what they may read, and how to see more. */
export interface OwnerNotices {
  /** Something was given up, perhaps by an earlier process: looks soon. */
  look(): void;
  stop(): void;
}

const TIMING = { gatherMs: 2_000, apartMs: 10 * 60_000 };
const NOTICE_MS = 24 * 60 * 60_000;
const OPEN_MS = 10_000;
/** Replies looked at in one piece, and pieces of which one notice tells exactly. */
const PAGE = 1_000;
const PAGES = 10;

/** Up to where replies that were given up have been told of. */
type Told = { readonly at: number; readonly id?: string };

export function createOwnerNotices(options: OwnerNoticesOptions): OwnerNotices {
  const { store, logger, now } = options;
  const { gatherMs, apartMs } = options.timing ?? TIMING;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let last = Number.NEGATIVE_INFINITY;

  const look = (): void => {
    if (stopping.signal.aborted || timer !== undefined || options.owners.length === 0) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        last = now();
        void tell().then((again) => again && look());
      },
      Math.max(gatherMs, last + apartMs - now()),
    );
    timer.unref();
  };

  /** True where somebody is still to be told. */
  const tell = async (): Promise<boolean> => {
    try {
      const { counts, upTo } = await since(toldOf(await store.kv.get("undelivered", "told"), now()));
      if (upTo === undefined) return false;
      if (counts.size > 0) {
        const key = `${upTo.at} ${upTo.id ?? ""}`;
        const reached = await Promise.all(
          options.owners.map((owner) => tellOwner(owner, textOf(counts, upTo.id === undefined), key)),
        );
        if (reached.every((one) => !one)) return true;
      }
      await store.kv.set("undelivered", "told", upTo);
      options.wakeOutbox();
      return false;
    } catch (error) {
      logger.warn({ err: messageOf(error) }, "owners could not be told of undelivered replies");
      return true;
    }
  };

  /** What was given up since, and up to where that is; without an id where there was more than is counted. */
  const since = async (told: Told): Promise<{ counts: Map<string, number>; upTo: Told | undefined }> => {
    const counts = new Map<string, number>();
    let upTo: Told | undefined;
    // More may yet be given up in this very millisecond, in front of what is there.
    const settled = now();
    for (let page = 0; page < PAGES; page++) {
      const rows = await store.outbox.list({ changedAfter: upTo ?? told, limit: PAGE });
      for (const { state, channel, account, payload, updatedAt, id } of rows) {
        if (updatedAt >= settled) return { counts, upTo };
        upTo = { at: updatedAt, id };
        if (payload.notice === true) continue;
        const what = `${state} on ${channel}/${account}`;
        counts.set(what, (counts.get(what) ?? 0) + 1);
      }
      if (rows.length < PAGE) return { counts, upTo };
    }
    return { counts, upTo: { at: settled - 1 } };
  };

  /** Ids of people are an app's own on some platforms, so the account they last wrote to comes first. */
  const tellOwner = async (owner: string, text: string, upTo: string): Promise<boolean> => {
    const [channel = "", ...rest] = owner.split(":");
    const peer = rest.join(":");
    const known = (await store.sessions.list({ channel, peer, limit: 1 }))[0]?.account;
    const accounts = options
      .accounts(channel)
      .toSorted(([a], [b]) => Number(b === known) - Number(a === known));
    for (const [account, { definition, running }] of accounts) {
      try {
        const address = await running.openDirect?.(
          peer,
          AbortSignal.any([stopping.signal, AbortSignal.timeout(OPEN_MS)]),
        );
        if (address === undefined) continue;
        const place = { channel, account, address: definition.codec.encode(address) };
        const payload = { parts: [{ type: "text" as const, text }], notice: true };
        const row = outboxRow(place, payload, { expiresAt: now() + NOTICE_MS, claim: false });
        // Told again after a crash it is the same message.
        const key = keyOf("undelivered", owner, account, upTo);
        await store.outbox.enqueue([{ ...row, key }], { lease: options.lease });
        return true;
      } catch (error) {
        logger.debug({ channel, account, err: messageOf(error) }, "an owner cannot be written to");
      }
    }
    return false;
  };

  return {
    look,
    stop() {
      stopping.abort();
      clearTimeout(timer);
    },
  };
}

/** Of a clock that was ahead nothing is believed: better told twice than never. */
function toldOf(value: unknown, now: number): Told {
  const told = typeof value === "number" ? { at: value } : value;
  if (told === null || typeof told !== "object" || !("at" in told)) return { at: 0 };
  const { at } = told;
  if (typeof at !== "number" || at > now) return { at: 0 };
  return "id" in told && typeof told.id === "string" ? { at, id: told.id } : { at };
}

/** No word of what was to be said: owners of the gateway are not of each conversation. */
function textOf(counts: ReadonlyMap<string, number>, more: boolean): string {
  const list = [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
  const sum = [...counts.values()].reduce((all, count) => all + count, 0);
  const some = sum === 1 && !more ? "A reply was" : `${more ? "More than " : ""}${sum} replies were`;
  return `${some} not delivered: ${list}. \`signalbox outbox list\` shows what and why.`;
}
