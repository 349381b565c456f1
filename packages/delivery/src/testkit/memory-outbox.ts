import { type Clock, isPayload } from "@signalbox/channel";
import type {
  LeaseToken,
  OutboxInsert,
  OutboxRow,
  OutboxState,
  OutboxStore,
  StoredReceipt,
  ToldThere,
} from "../outbox.ts";
import { destinationKey, outboxKey } from "../rows.ts";

/** A row as the memory keeps it. */
interface Entry extends OutboxRow {
  readonly nextAt: number;
  readonly lease?: LeaseToken;
  readonly error?: string;
}

/** An outbox in memory, for tests and for programs that need not survive a restart. */
export interface MemoryOutbox extends OutboxStore {
  /** Called before each write; what it throws takes the place of the write. */
  beforeWrite: (() => void) | undefined;
  /** Writes under any other lease are refused from now on; its rows in flight are doubtful. */
  take(lease: LeaseToken): void;
  /** What came with rows for whoever answers in a conversation. */
  toldIn(conversation: string): readonly ToldThere[];
  /** Why a row ended as it did. */
  errorOf(id: string): string | undefined;
}

export function createMemoryOutbox(clock: Pick<Clock, "now">): MemoryOutbox {
  const entries = new Map<string, Entry>();
  const told: ToldThere[] = [];
  let holder: LeaseToken | undefined;
  let ids = 0;

  const isHeldBy = (lease: LeaseToken | undefined, other: LeaseToken | undefined): boolean =>
    lease?.name === other?.name && lease?.epoch === other?.epoch;

  const write = (lease: LeaseToken): void => {
    outbox.beforeWrite?.();
    holder ??= lease;
    if (!isHeldBy(holder, lease)) throw new Error(`The lease ${lease.name} of epoch ${lease.epoch} was lost`);
  };

  const open = (): Entry[] => [...entries.values()].filter(isOpen);

  const change = (entry: Entry, changes: Partial<Entry>): Entry => {
    const changed = { ...entry, ...changes, updatedAt: clock.now() };
    entries.set(entry.id, changed);
    return changed;
  };

  const insert = (row: OutboxInsert, lease: LeaseToken): Entry => {
    const key = row.key ?? outboxKey("memory", String(++ids));
    const existing = [...entries.values()].find((entry) => entry.key === key);
    if (existing !== undefined) return existing;
    const waits = open().some((entry) => destinationKey(entry) === destinationKey(row));
    const claimed = row.claim === true && !waits;
    const now = clock.now();
    const entry: Entry = {
      id: `row-${String(++ids).padStart(8, "0")}`,
      key,
      receipts: [],
      nextAt: now,
      updatedAt: now,
      channel: row.channel,
      account: row.account,
      address: row.address,
      payload: row.payload,
      ...(row.expiresAt === undefined ? {} : { expiresAt: row.expiresAt }),
      ...(claimed ? { lease } : {}),
      partCount: row.partCount ?? 1,
      state: claimed ? "sending" : "pending",
      attempts: claimed ? 1 : 0,
    };
    entries.set(entry.id, entry);
    if (row.told !== undefined) told.push(row.told);
    return entry;
  };

  /** The row being sent under this lease. */
  const sending = (id: string, lease: LeaseToken): Entry => {
    write(lease);
    const entry = entries.get(id);
    if (entry?.state !== "sending" || !isHeldBy(entry.lease, lease))
      throw new Error(`The row ${id} is not being sent under this lease`);
    return entry;
  };

  const end = (entry: Entry, state: OutboxState, error: string | undefined): Entry => {
    const { lease: _, ...rest } = entry;
    const ended = { ...rest, state, updatedAt: clock.now(), ...(error === undefined ? {} : { error }) };
    entries.set(entry.id, ended);
    return ended;
  };

  const isOverdue = ({ state, expiresAt }: Entry): boolean =>
    state === "pending" && expiresAt !== undefined && expiresAt <= clock.now();

  const merged = (entry: Entry, added: readonly StoredReceipt[]): readonly StoredReceipt[] =>
    [...new Map([...entry.receipts, ...added].map((receipt) => [receipt.part, receipt])).values()].toSorted(
      (a, b) => a.part - b.part,
    );

  const outbox: MemoryOutbox = {
    beforeWrite: undefined,
    take(lease) {
      holder = lease;
    },
    toldIn: (conversation) => told.filter((each) => each.conversation === conversation),
    errorOf: (id) => entries.get(id)?.error,
    async enqueue(rows, { lease }) {
      write(lease);
      return rows.map((row) => insert(row, lease));
    },
    overdue: async () => open().filter(isOverdue),
    async expire(ids, lease, word) {
      write(lease);
      const ended = ids
        .flatMap((id) => entries.get(id) ?? [])
        .filter(isOverdue)
        .map((entry) => end(entry, "expired", "time to live passed"));
      if (word !== undefined && ended.length > 0) insert(word, lease);
      return ended;
    },
    async claimDue({ lease, limit }) {
      write(lease);
      const now = clock.now();
      const heads = [...Map.groupBy(open(), destinationKey).values()].flatMap(([head]) => head ?? []);
      const fresh = heads.filter((entry) => !isOverdue(entry));
      const free = fresh.filter((entry) => entry.state === "pending" || !isHeldBy(entry.lease, lease));
      const waits = ({ state, nextAt, updatedAt }: Entry): boolean =>
        state === "pending" && nextAt > now && updatedAt <= now;
      const due = free.filter((entry) => !waits(entry)).slice(0, limit);
      const rows = due.map((entry) => ({
        ...change(entry, { state: "sending", lease, attempts: entry.attempts + 1 }),
        doubtful: entry.state === "sending",
      }));
      const later = free.filter((entry) => !due.includes(entry)).map(({ nextAt }) => nextAt);
      return {
        rows,
        ...(later.length > 0 ? { nextAt: Math.min(...later) } : {}),
      };
    },
    async markPart(id, lease, receipt) {
      const entry = sending(id, lease);
      change(entry, { receipts: merged(entry, [receipt]) });
    },
    async markSent(id, lease, receipts = []) {
      const entry = sending(id, lease);
      end(change(entry, { receipts: merged(entry, receipts) }), "sent", undefined);
    },
    async retryAt(id, lease, at, reason) {
      const entry = sending(id, lease);
      entries.set(id, { ...end(entry, "pending", reason), nextAt: at });
    },
    async uncertain(id, lease, reason) {
      end(sending(id, lease), "uncertain", reason);
    },
    async dead(id, lease, reason, word) {
      end(sending(id, lease), "dead", reason);
      if (word !== undefined) insert(word, lease);
    },
    awaiting: async () => [],
    get: async (id) => entries.get(id),
    withKey: async (key) => [...entries.values()].find((entry) => entry.key === key),
    ofMessage: async ({ channel, account, messageId }) =>
      [...entries.values()].findLast(
        (entry) =>
          entry.channel === channel &&
          entry.account === account &&
          entry.receipts.some(({ receipt }) => isPayload(receipt) && receipt["messageId"] === messageId),
      ),
    hasOpen: async (destination) =>
      open().some((entry) => destinationKey(entry) === destinationKey(destination)),
    async list({ states = ["dead", "uncertain", "expired"], changedAfter, limit = 100 } = {}) {
      const rows = [...entries.values()].filter(({ state }) => states.includes(state));
      if (changedAfter === undefined) return rows.toReversed().slice(0, limit);
      const { at, id } = changedAfter;
      return rows
        .filter((row) => row.updatedAt > at || (id !== undefined && row.updatedAt === at && row.id > id))
        .toSorted((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1))
        .slice(0, limit);
    },
  };
  return outbox;
}

function isOpen({ state }: OutboxRow): boolean {
  return state === "pending" || state === "sending";
}
