import { type Capabilities, type MessageEvent, reasonOf } from "@signalbox/channel";
import type { JsonValue, KvStore, Logger } from "@signalbox/store";

/** A conversation with which an account exchanges messages. */
type Destination = Pick<MessageEvent, "channel" | "account" | "address">;

/** The reason why a platform accepts no messages in a conversation until a person writes there. */
export interface ClosedReplyWindow {
  /** The name of the platform. */
  readonly platform: string;
  /** Time after a person's message during which the platform accepts messages, in milliseconds. */
  readonly windowMs: number;
  /** Maximum number of messages per message from a person, if all of them were used. */
  readonly used?: number;
  /** Time of the last message from a person, in milliseconds since the epoch, if it is known. */
  readonly heardAt?: number;
}

/** Determines whether a platform that only accepts replies would accept a message in a conversation. */
export interface ReplyWindows {
  /** Records a message from a person. Does nothing on other platforms. */
  heard(event: MessageEvent): void;
  /** Records messages that were sent. Does nothing on other platforms. */
  sent(to: Destination, count: number): void;
  /** Returns why the platform would reject a message at the given time, or `undefined` if it would accept it. */
  findClosed(to: Destination, at?: number): Promise<ClosedReplyWindow | undefined>;
}

export interface ReplyWindowsOptions {
  readonly kv: Pick<KvStore, "get" | "set">;
  readonly getChannel: (
    channel: string,
    account: string,
  ) => { readonly meta: { readonly label: string }; readonly capabilities: Capabilities } | undefined;
  readonly logger: Pick<Logger, "warn">;
  readonly now: () => number;
}

const NAMESPACE = "reply-windows";
/** Entries are kept for a week after the window has closed, to show when a person last wrote. */
const EXTRA_TTL_MS = 7 * 24 * 60 * 60_000;

interface Entry {
  readonly at: number;
  /** Number of messages sent since then. */
  readonly sent: number;
}

export function createReplyWindows({ kv, getChannel, logger, now }: ReplyWindowsOptions): ReplyWindows {
  /** The latest change for each conversation. Changes for one conversation run one after the other. */
  const changes = new Map<string, Promise<void>>();

  const read = async (key: string): Promise<Entry | undefined> => parseEntry(await kv.get(NAMESPACE, key));

  function change(to: Destination, next: (entry: Entry | undefined) => Entry | undefined): void {
    const replies = getChannel(to.channel, to.account)?.capabilities.replies;
    if (replies === undefined) return;
    const key = keyOf(to);
    const changed = (changes.get(key) ?? Promise.resolve()).then(async () => {
      try {
        const entry = next(await read(key));
        if (entry !== undefined) await kv.set(NAMESPACE, key, entry, replies.windowMs + EXTRA_TTL_MS);
      } catch (error) {
        logger.warn(
          { channel: to.channel, err: reasonOf(error) },
          "the time of a message could not be stored",
        );
      }
    });
    changes.set(key, changed);
    void changed.then(() => {
      if (changes.get(key) === changed) changes.delete(key);
    });
  }

  return {
    heard(event) {
      if (event.sender.isBot || event.sender.isSelf) return;
      const at = Math.min(event.timestamp, now());
      // A redelivered or backfilled message may not be the latest one.
      change(event, (entry) => (entry !== undefined && at <= entry.at ? undefined : { at, sent: 0 }));
    },
    sent: (to, count) => change(to, (entry) => entry && { ...entry, sent: entry.sent + count }),
    async findClosed(to, at = now()) {
      const definition = getChannel(to.channel, to.account);
      const replies = definition?.capabilities.replies;
      if (definition === undefined || replies === undefined) return undefined;
      const key = keyOf(to);
      await changes.get(key);
      const entry = await read(key);
      const { windowMs, max } = replies;
      const closed = { platform: definition.meta.label, windowMs };
      if (entry === undefined) return closed;
      if (at - entry.at >= windowMs) return { ...closed, heardAt: entry.at };
      return max !== undefined && entry.sent >= max ? { ...closed, heardAt: entry.at, used: max } : undefined;
    },
  };
}

function keyOf({ channel, account, address }: Destination): string {
  return JSON.stringify([channel, account, address]);
}

function parseEntry(value: JsonValue | undefined): Entry | undefined {
  if (typeof value !== "object" || value === null || !("at" in value) || !("sent" in value)) return undefined;
  const { at, sent } = value;
  return typeof at === "number" && typeof sent === "number" ? { at, sent } : undefined;
}

/** Formats the length of a window in English, as `24 h` or `90 min`. */
export function formatWindow(windowMs: number): string {
  const hours = windowMs / 3_600_000;
  return Number.isInteger(hours) ? `${hours} h` : `${Math.round(windowMs / 60_000)} min`;
}

/** Warns the model that a schedule will be ignored unless a person writes first. */
export function warnOfClosed({ platform, windowMs }: ClosedReplyWindow): string {
  return `${platform} accepts messages here only within ${formatWindow(windowMs)} after a person wrote. If nobody writes before, it does not run. Tell the person.`;
}

/** Explains to the model why nothing can be sent to a conversation. */
export function explainClosed({ platform, windowMs, used }: ClosedReplyWindow): string {
  const limit =
    used === undefined
      ? `within ${formatWindow(windowMs)} after a person wrote there, and that time is over`
      : `as replies, at most ${used} for each message of a person, and these are used up`;
  return `Nothing was sent: ${platform} accepts messages in that conversation only ${limit}. The person must write first.`;
}
