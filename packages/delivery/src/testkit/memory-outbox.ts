import { type Clock, isPayload } from "@signalbox/channel";
import type {
  Destination,
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
  return new OutboxInMemory(clock);
}

class OutboxInMemory implements MemoryOutbox {
  beforeWrite: (() => void) | undefined;
  readonly #clock: Pick<Clock, "now">;
  readonly #entries = new Map<string, Entry>();
  readonly #told: ToldThere[] = [];
  #holder: LeaseToken | undefined;
  #ids = 0;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  take(lease: LeaseToken): void {
    this.#holder = lease;
  }

  toldIn(conversation: string): readonly ToldThere[] {
    return this.#told.filter((each) => each.conversation === conversation);
  }

  errorOf(id: string): string | undefined {
    return this.#entries.get(id)?.error;
  }

  async enqueue(rows: readonly OutboxInsert[], { lease, sessionKey }: EnqueueOptions): Promise<Entry[]> {
    this.#write(lease);
    return rows.map((row) => this.#insert(row, lease, sessionKey));
  }

  async overdue(): Promise<Entry[]> {
    return this.#open().filter((entry) => this.#isOverdue(entry));
  }

  async expire(ids: readonly string[], lease: LeaseToken, word?: OutboxInsert): Promise<Entry[]> {
    this.#write(lease);
    const ended = ids
      .flatMap((id) => this.#entries.get(id) ?? [])
      .filter((entry) => this.#isOverdue(entry))
      .map((entry) => this.#end(entry, "expired", "time to live passed"));
    if (word !== undefined && ended.length > 0) this.#insert(word, lease);
    return ended;
  }

  async claimDue({ lease, limit }: { readonly lease: LeaseToken; readonly limit: number }) {
    this.#write(lease);
    const now = this.#clock.now();
    const heads = [...Map.groupBy(this.#open(), destinationKey).values()].flatMap(([head]) => head ?? []);
    const fresh = heads.filter((entry) => !this.#isOverdue(entry));
    const free = fresh.filter((entry) => entry.state === "pending" || !isSameLease(entry.lease, lease));
    const waits = ({ state, nextAt, updatedAt }: Entry): boolean =>
      state === "pending" && nextAt > now && updatedAt <= now;
    const due = free.filter((entry) => !waits(entry)).slice(0, limit);
    const rows = due.map((entry) => {
      const doubtful = entry.state === "sending";
      const updatedAt = doubtful ? entry.updatedAt : now;
      const attempts = entry.attempts + 1;
      return { ...this.#change(entry, { state: "sending", lease, attempts, updatedAt }), doubtful };
    });
    const later = free.filter((entry) => !due.includes(entry)).map(({ nextAt }) => nextAt);
    return { rows, ...(later.length > 0 ? { nextAt: Math.min(...later) } : {}) };
  }

  async markPart(id: string, lease: LeaseToken, receipt: StoredReceipt): Promise<void> {
    const entry = this.#sending(id, lease);
    this.#change(entry, { receipts: merged(entry, [receipt]) });
  }

  async markSent(id: string, lease: LeaseToken, receipts: readonly StoredReceipt[] = []): Promise<void> {
    const entry = this.#sending(id, lease);
    this.#end(this.#change(entry, { receipts: merged(entry, receipts) }), "sent", undefined);
  }

  async retryAt(id: string, lease: LeaseToken, at: number, reason?: string): Promise<void> {
    const entry = this.#sending(id, lease);
    this.#entries.set(id, { ...this.#end(entry, "pending", reason), nextAt: at });
  }

  async uncertain(id: string, lease: LeaseToken, reason?: string): Promise<void> {
    this.#end(this.#sending(id, lease), "uncertain", reason);
  }

  async dead(id: string, lease: LeaseToken, reason?: string, word?: OutboxInsert): Promise<void> {
    this.#end(this.#sending(id, lease), "dead", reason);
    if (word !== undefined) this.#insert(word, lease);
  }

  async awaiting(): Promise<string[]> {
    return [];
  }

  async get(id: string): Promise<Entry | undefined> {
    return this.#entries.get(id);
  }

  async withKey(key: string): Promise<Entry | undefined> {
    return this.#all().find((entry) => entry.key === key);
  }

  async ofMessage(message: Parameters<OutboxStore["ofMessage"]>[0]): Promise<Entry | undefined> {
    const { channel, account, messageId } = message;
    return this.#all().findLast(
      (entry) =>
        entry.channel === channel &&
        entry.account === account &&
        entry.receipts.some(({ receipt }) => isPayload(receipt) && receipt["messageId"] === messageId),
    );
  }

  async hasOpen(destination: Destination): Promise<boolean> {
    return this.#open().some((entry) => destinationKey(entry) === destinationKey(destination));
  }

  async list({ states = GIVEN_UP, changedAfter, limit = 100 }: Filter = {}): Promise<Entry[]> {
    const rows = this.#all().filter(({ state }) => states.includes(state));
    if (changedAfter === undefined) return rows.toReversed().slice(0, limit);
    const { at, id } = changedAfter;
    return rows
      .filter((row) => row.updatedAt > at || (id !== undefined && row.updatedAt === at && row.id > id))
      .toSorted((a, b) => a.updatedAt - b.updatedAt || (a.id < b.id ? -1 : 1))
      .slice(0, limit);
  }

  #all(): Entry[] {
    return [...this.#entries.values()];
  }

  #open(): Entry[] {
    return this.#all().filter(isOpen);
  }

  #write(lease: LeaseToken): void {
    this.beforeWrite?.();
    this.#holder ??= lease;
    if (!isSameLease(this.#holder, lease))
      throw new Error(`The lease ${lease.name} of epoch ${lease.epoch} was lost`);
  }

  #insert(row: OutboxInsert, lease: LeaseToken, sessionKey?: string): Entry {
    const key = row.key ?? outboxKey("memory", String(++this.#ids));
    const existing = this.#all().find((entry) => entry.key === key);
    if (existing !== undefined) return existing;
    const waits = this.#open().some((entry) => destinationKey(entry) === destinationKey(row));
    const claimed = row.claim === true && !waits;
    const now = this.#clock.now();
    const entry: Entry = {
      id: `row-${String(++this.#ids).padStart(8, "0")}`,
      key,
      receipts: [],
      nextAt: now,
      updatedAt: now,
      channel: row.channel,
      account: row.account,
      address: row.address,
      payload: row.payload,
      ...(sessionKey === undefined ? {} : { sessionKey }),
      ...(row.expiresAt === undefined ? {} : { expiresAt: row.expiresAt }),
      ...(claimed ? { lease } : {}),
      partCount: row.partCount ?? 1,
      state: claimed ? "sending" : "pending",
      attempts: claimed ? 1 : 0,
    };
    this.#entries.set(entry.id, entry);
    if (row.told !== undefined) this.#told.push(row.told);
    return entry;
  }

  /** The row being sent under this lease. */
  #sending(id: string, lease: LeaseToken): Entry {
    this.#write(lease);
    const entry = this.#entries.get(id);
    if (entry?.state !== "sending" || !isSameLease(entry.lease, lease))
      throw new Error(`The row ${id} is not being sent under this lease`);
    return entry;
  }

  #change(entry: Entry, changes: Partial<Entry>): Entry {
    const changed = { ...entry, updatedAt: this.#clock.now(), ...changes };
    this.#entries.set(entry.id, changed);
    return changed;
  }

  #end(entry: Entry, state: OutboxState, error: string | undefined): Entry {
    const { lease: _, ...rest } = entry;
    const ended = {
      ...rest,
      state,
      updatedAt: this.#clock.now(),
      ...(error === undefined ? {} : { error }),
    };
    this.#entries.set(entry.id, ended);
    return ended;
  }

  #isOverdue({ state, expiresAt }: Entry): boolean {
    return state === "pending" && expiresAt !== undefined && expiresAt <= this.#clock.now();
  }
}

const GIVEN_UP: readonly OutboxState[] = ["dead", "uncertain", "expired"];

type EnqueueOptions = Parameters<OutboxStore["enqueue"]>[1];
type Filter = NonNullable<Parameters<OutboxStore["list"]>[0]>;

function isSameLease(lease: LeaseToken | undefined, other: LeaseToken): boolean {
  return lease?.name === other.name && lease.epoch === other.epoch;
}

function merged(entry: Entry, added: readonly StoredReceipt[]): readonly StoredReceipt[] {
  return [
    ...new Map([...entry.receipts, ...added].map((receipt) => [receipt.part, receipt])).values(),
  ].toSorted((a, b) => a.part - b.part);
}

function isOpen({ state }: OutboxRow): boolean {
  return state === "pending" || state === "sending";
}
