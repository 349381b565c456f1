import { type Clock, reasonOf, systemClock } from "@signalbox/channel";
import { type GivenUpCounts, type Phrases, phrasesIn } from "@signalbox/phrases";
import type { InboxId, JsonValue, KvStore, LeaseToken, Logger } from "@signalbox/store/types";
import type { DeliveryAccount } from "./account.ts";
import type { DeliveryMessage, OutboxInsert, OutboxRow, OutboxStore } from "./outbox.ts";
import { createQuestionMessage, getOwnerQuestionKey, type Question } from "./questions.ts";
import { createOutboxKey, createOutboxRow, REPLY_TTL_MS } from "./rows.ts";

export interface OwnerNoticesOptions {
  readonly outbox: Pick<OutboxStore, "answers" | "enqueue" | "list">;
  readonly lease: LeaseToken;
  /** Stores the position up to which owners were notified. */
  readonly notes: Pick<KvStore, "get" | "set">;
  /** Returns the owners as `channel:id`, with immutable ids. */
  readonly owners: () => readonly string[];
  /** Returns the running accounts of a channel. */
  readonly accounts: (channel: string) => readonly DeliveryAccount[];
  /**
   * Returns the account through which a person last wrote, and the phrases for them. On some platforms, a person's id
   * is valid for only one app.
   */
  readonly getLastContact: (channel: string, person: string) => Promise<LastContact | undefined>;
  /** Makes the delivery look for due rows. */
  readonly wakeOutbox: () => void;
  /** Returns false while another process notifies owners of replies that were given up. Default: always true */
  readonly notifies?: (() => boolean) | undefined;
  readonly logger: Pick<Logger, "debug" | "warn">;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Time to collect failures and minimum time between notices, in milliseconds. Default: 2 s and 10 min. */
  readonly timing?: { readonly collectMs: number; readonly intervalMs: number };
}

interface LastContact {
  readonly account: string;
  readonly phrases: Phrases;
}

/** Sends owners a direct message with the number of replies that were given up and the command that lists them. */
export interface OwnerNotices {
  /** Schedules a search for replies that were given up, including those of an earlier process. */
  poll(): void;
  /**
   * Sends a text to every owner, in their language. The text must not contain messages from conversations, because an
   * owner is not a member of every conversation.
   *
   * @param id a repeated id sends nothing
   * @returns false if no owner could be reached
   */
  send(text: (phrases: Phrases) => string, id: string): Promise<boolean>;
  /**
   * Sends a question to every owner, with buttons if the channel supports them. {@link Questions.close} removes them.
   *
   * @param create returns the question in an owner's language
   */
  ask(create: (phrases: Phrases) => Question): Promise<void>;
  /** Resends an undelivered notice through another account, if there is one. */
  undelivered(notice: OutboxRow): void;
  stop(): void;
}

const TIMING = { collectMs: 2_000, intervalMs: 10 * 60_000 };
const OPEN_TIMEOUT_MS = 10_000;
/** Number of rows to read at once, and the number of pages that one notice counts exactly. */
const PAGE = 1_000;
const MAX_PAGES = 10;
/** Maximum number of messages that one notice marks as reported. */
const MAX_MESSAGES = 1_000;

/** The position in the list of given-up rows up to which owners were notified. */
interface Position {
  readonly at: number;
  readonly id?: string;
}

interface GivenUp {
  readonly counts: GivenUpCounts;
  /** The last counted row. It has no id if there are more rows than are counted. */
  readonly upTo: Position | undefined;
  /** The first counted rows. */
  readonly rowIds: readonly OutboxRow["id"][];
}

export function createOwnerNotices(options: OwnerNoticesOptions): OwnerNotices {
  return new Notices(options);
}

class Notices implements OwnerNotices {
  readonly #options: OwnerNoticesOptions;
  readonly #clock: Clock;
  readonly #collectMs: number;
  readonly #intervalMs: number;
  readonly #now: () => number;
  readonly #stopping = new AbortController();
  #polling = false;
  /** True if a poll was requested since the current one began. */
  #more = false;
  #lastAt: number = Number.NEGATIVE_INFINITY;

  constructor(options: OwnerNoticesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const { collectMs, intervalMs } = options.timing ?? TIMING;
    this.#collectMs = collectMs;
    this.#intervalMs = intervalMs;
    this.#now = this.#clock.now;
  }

  poll(): void {
    if (this.#stopping.signal.aborted || this.#options.owners().length === 0) return;
    this.#more = true;
    if (this.#polling) return;
    this.#polling = true;
    const ms = Math.max(this.#collectMs, this.#lastAt + this.#intervalMs - this.#now());
    this.#clock.delay(ms, this.#stopping.signal).then(
      async () => {
        this.#more = false;
        const isDone = await this.#notify();
        this.#polling = false;
        if (!isDone || this.#more) this.poll();
      },
      () => {},
    );
  }

  async send(text: (phrases: Phrases) => string, id: string): Promise<boolean> {
    const { owners, getLastContact, wakeOutbox } = this.#options;
    const reached = await Promise.all(
      owners().map(async (owner) => {
        const last = await getLastContact(...splitOwner(owner));
        return this.#send({ owner, id, tried: [] }, text(last?.phrases ?? phrasesIn("en")), []);
      }),
    );
    wakeOutbox();
    return reached.includes(true);
  }

  async ask(create: (phrases: Phrases) => Question): Promise<void> {
    const { owners, getLastContact, wakeOutbox } = this.#options;
    const asked = owners().map(async (owner) => {
      const last = await getLastContact(...splitOwner(owner));
      const question = create(last?.phrases ?? phrasesIn("en"));
      return this.#enqueue(owner, [], ({ definition }) => ({
        payload: { ...createQuestionMessage(question, "", definition.capabilities), notice: true },
        expiresAt: question.expiresAt,
        key: getOwnerQuestionKey(question.id, owner),
      }));
    });
    await Promise.all(asked);
    wakeOutbox();
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Returns false if no owner could be reached and the notice must be retried. */
  async #notify(): Promise<boolean> {
    const { notes, owners, logger, notifies = () => true } = this.#options;
    // Two processes would count different replies and send two notices.
    if (!notifies()) return true;
    try {
      const position = parsePosition(await notes.get("undelivered", "told"), this.#now());
      const { counts, upTo, rowIds } = await this.#countSince(position);
      if (upTo === undefined) return true;
      if (counts.length > 0) {
        this.#lastAt = this.#now();
        const about = (await Promise.all(rowIds.map((id) => this.#options.outbox.answers(id)))).flat();
        const reports = about.slice(0, MAX_MESSAGES);
        const reached = await Promise.all(
          owners().map((owner) => this.#notifyOwner(owner, counts, { upTo, reports })),
        );
        if (!reached.includes(true)) return false;
      }
      const { at, id } = upTo;
      await notes.set("undelivered", "told", id === undefined ? { at } : { at, id });
      this.#options.wakeOutbox();
      return true;
    } catch (error) {
      this.#lastAt = this.#now();
      logger.warn({ err: reasonOf(error) }, "owners could not be notified of undelivered replies");
      return false;
    }
  }

  async #countSince(position: Position): Promise<GivenUp> {
    const counts: { state: string; account: string; count: number }[] = [];
    const rowIds: OutboxRow["id"][] = [];
    let upTo: Position | undefined;
    // Ignore the current millisecond, because another row may get a position before the existing ones.
    const before = this.#now();
    for (let page = 0; page < MAX_PAGES; page++) {
      const rows = await this.#options.outbox.list({ changedAfter: upTo ?? position, limit: PAGE });
      for (const { state, channel, account, payload, updatedAt, id } of rows) {
        if (updatedAt >= before) return { counts, upTo, rowIds };
        upTo = { at: updatedAt, id };
        if (payload.notice === true) continue;
        if (rowIds.length < MAX_MESSAGES) rowIds.push(id);
        const group = { state, account: `${channel}/${account}` };
        const counted = counts.find((one) => one.state === group.state && one.account === group.account);
        if (counted === undefined) counts.push({ ...group, count: 1 });
        else counted.count += 1;
      }
      if (rows.length < PAGE) return { counts, upTo, rowIds };
    }
    return { counts, upTo: { at: before - 1 }, rowIds };
  }

  /** Returns true if an account could write to the owner. */
  async #notifyOwner(
    owner: string,
    counts: GivenUpCounts,
    { upTo, reports }: { readonly upTo: Position; readonly reports: readonly InboxId[] },
  ): Promise<boolean> {
    const last = await this.#options.getLastContact(...splitOwner(owner));
    // The notice contains nothing from the replies, because an owner is not a member of every conversation.
    const text = (last?.phrases ?? phrasesIn("en")).givenUp(counts, upTo.id === undefined);
    // The id is the same after a crash, so that the notice is not sent twice.
    const id = `${upTo.at} ${upTo.id ?? ""}`;
    return this.#send({ owner, id, tried: [] }, text, reports);
  }

  undelivered({ id, channel, account, payload: { ownerNotice, parts } }: OutboxRow): void {
    const [part] = parts;
    if (ownerNotice === undefined || part?.type !== "text" || this.#stopping.signal.aborted) return;
    const { outbox, wakeOutbox, logger } = this.#options;
    const again = async (): Promise<void> => {
      const tried = [...ownerNotice.tried, `${channel}/${account}`];
      if (await this.#send({ ...ownerNotice, tried }, part.text, await outbox.answers(id))) wakeOutbox();
    };
    again().catch((error: unknown) => {
      logger.warn({ err: reasonOf(error) }, "an owner could not be notified of undelivered replies");
    });
  }

  /**
   * Enqueues a notice for an account that has not tried to deliver it. Returns true if there is an account that can
   * write to the owner.
   */
  #send(
    notice: NonNullable<DeliveryMessage["ownerNotice"]>,
    text: string,
    reports: readonly InboxId[],
  ): Promise<boolean> {
    const { owner, tried } = notice;
    const payload = { parts: [{ type: "text" as const, text }], notice: true, ownerNotice: notice };
    const expiresAt = this.#now() + REPLY_TTL_MS;
    return this.#enqueue(owner, tried, ({ account }) => ({
      payload,
      expiresAt,
      key: createOutboxKey("undelivered", owner, account, notice.id),
      reports,
    }));
  }

  /** Enqueues a direct message to an owner through an account that is not in `tried`, if there is one. */
  async #enqueue(
    owner: string,
    tried: readonly string[],
    create: (account: DeliveryAccount) => OwnerMessage,
  ): Promise<boolean> {
    const { outbox, lease, logger } = this.#options;
    const [channel, person] = splitOwner(owner);
    const last = await this.#options.getLastContact(channel, person);
    const accounts = this.#options
      .accounts(channel)
      .filter(({ account }) => !tried.includes(`${channel}/${account}`))
      .toSorted((a, b) => Number(b.account === last?.account) - Number(a.account === last?.account));
    for (const one of accounts) {
      const { account, definition, running } = one;
      try {
        const limit = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(OPEN_TIMEOUT_MS)]);
        const address = await running.openDirect?.(person, limit);
        if (address === undefined) continue;
        const destination = { channel, account, address: definition.codec.encode(address) };
        const { payload, expiresAt, ...parts } = create(one);
        const row = createOutboxRow(destination, payload, { expiresAt, claim: false });
        await outbox.enqueue([{ ...row, ...parts }], { lease });
        return true;
      } catch (error) {
        logger.debug({ channel, account, err: reasonOf(error) }, "an account cannot write to an owner");
      }
    }
    return false;
  }
}

/** A direct message to an owner. */
interface OwnerMessage extends Pick<OutboxInsert, "key" | "reports"> {
  readonly payload: DeliveryMessage;
  readonly expiresAt: number;
}

function splitOwner(owner: string): [channel: string, person: string] {
  const [channel = "", ...rest] = owner.split(":");
  return [channel, rest.join(":")];
}

/**
 * Ignores a position in the future, which results from a wrong clock, because a repeated notice is better than a
 * missing one.
 */
function parsePosition(value: JsonValue | undefined, now: number): Position {
  if (typeof value !== "object" || value === null || !("at" in value)) return { at: 0 };
  const { at } = value;
  if (typeof at !== "number" || at > now) return { at: 0 };
  return { at, id: "id" in value && typeof value.id === "string" ? value.id : undefined };
}
