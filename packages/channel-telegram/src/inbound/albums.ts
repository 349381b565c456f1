import {
  type Addressed,
  type ChannelContext,
  type InboundEvent,
  isPayload,
  type Json,
  MAX_REFERENCES,
  type MessageEvent,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { idAt } from "./conversation.ts";
import { getUpdateId } from "./update.ts";

const MAX_ALBUMS = 50;
const MAX_COMMENTS = 200;

/**
 * Returns the id of the album that the message is part of. Telegram sends each item of an album as a separate message.
 */
export function getAlbumId(update: Payload): string | undefined {
  const message = isPayload(update["message"])
    ? objectAt(update, "message")
    : objectAt(update, "channel_post");
  return textAt(message, "media_group_id");
}

/**
 * Groups updates into messages. The items of an album are stored before the album is emitted, so updates that are
 * redelivered after a crash are grouped the same way. An item that arrives after its album was emitted remains a
 * separate message.
 */
export interface Albums {
  /**
   * Returns what to emit for each update: the update itself, the entire album for its first item, and nothing for its
   * other items.
   */
  arrange(updates: readonly Payload[]): Promise<ReadonlyMap<Payload, readonly Payload[]>>;
}

export function createAlbums({ state }: Pick<ChannelContext, "state">, botId: () => string): Albums {
  const key = (): string => `${botId()}/albums`;
  /** Serializes writes, so that storing one album cannot overwrite another. */
  let last: Promise<unknown> = Promise.resolve();

  /** Ids of the updates that form the album, in order. */
  function membersOf(album: string, present: readonly number[]): Promise<readonly number[]> {
    const members = last.then(async () => {
      const saved = await state.get(key());
      const known = isPayload(saved) ? saved : {};
      const before = readIds(known[album]);
      const [first] = before;
      // The album has already been emitted, so a late item remains separate.
      if (first !== undefined && !present.includes(first)) return before;
      const now = before.length === 0 ? present : before.filter((id) => present.includes(id));
      if (now.length !== before.length) await state.set(key(), newest({ ...known, [album]: [...now] }));
      return now;
    });
    last = members.catch(() => {});
    return members;
  }

  return {
    async arrange(updates) {
      const arranged = new Map<Payload, readonly Payload[]>(updates.map((update) => [update, [update]]));
      for (const [album, parts] of groupByAlbum(updates)) {
        const members = await membersOf(
          album,
          parts.flatMap((part) => getUpdateId(part) ?? []),
        );
        const together = parts.filter((part) => members.includes(getUpdateId(part) ?? -1));
        for (const part of together) arranged.set(part, getUpdateId(part) === members[0] ? together : []);
      }
      return arranged;
    },
  };
}

/**
 * Groups the items of albums, and the messages that a person forwarded together with a comment. A message can refer to
 * a limited number of others, so many forwarded messages form several groups.
 */
function groupByAlbum(updates: readonly Payload[]): ReadonlyMap<string, readonly Payload[]> {
  const albums = new Map<string, Payload[]>();
  let comment: Payload | undefined;
  let count = 0;
  for (const update of updates) {
    const album = getAlbumId(update);
    if (comment !== undefined && isForwardedWith(comment, update)) {
      const group = Math.floor(count / MAX_FORWARDS);
      const key = `comment:${getUpdateId(comment)}:${group}`;
      albums.set(key, [...(albums.get(key) ?? (group === 0 ? [comment] : [])), update]);
      count += 1;
      continue;
    }
    count = 0;
    comment = album === undefined && !isForward(update) ? update : undefined;
    if (album !== undefined) albums.set(album, [...(albums.get(album) ?? []), update]);
  }
  // Webhook requests can arrive in any order.
  for (const parts of albums.values()) parts.sort((a, b) => (getUpdateId(a) ?? 0) - (getUpdateId(b) ?? 0));
  return albums;
}

/** Maximum number of forwarded messages in a group. The comment may refer to a message too. */
const MAX_FORWARDS = MAX_REFERENCES - 1;

/** Maximum time between a comment and the messages forwarded with it, in seconds. */
const FORWARD_SECONDS = 2;

/**
 * Returns true if the message was forwarded together with a comment. Telegram sends the comment first, as a separate
 * message from the same person in the same chat.
 */
function isForwardedWith(comment: Payload, update: Payload): boolean {
  const [before, message] = [objectAt(comment, "message"), objectAt(update, "message")];
  const sender = idAt(objectAt(message, "from"));
  const chat = idAt(objectAt(message, "chat"));
  return (
    isForward(update) &&
    sender !== undefined &&
    sender === idAt(objectAt(before, "from")) &&
    chat === idAt(objectAt(before, "chat")) &&
    Number(message["date"]) - Number(before["date"]) <= FORWARD_SECONDS
  );
}

function isForward(update: Payload): boolean {
  return isPayload(objectAt(update, "message")["forward_origin"]);
}

/**
 * Marks messages as addressed if they were forwarded with an addressed comment but arrive separately from it.
 *
 * @returns a function for the messages of one bot, in order of arrival
 */
export function createForwardAddressing(): (events: readonly InboundEvent[]) => readonly InboundEvent[] {
  /** The latest addressed message by chat and sender. */
  const comments = new Map<string, Pick<MessageEvent, "addressed" | "timestamp">>();
  return (events) =>
    events.map((event) => {
      if (event.type !== "message") return event;
      const key = `${event.address} ${event.sender.id}`;
      const comment = comments.get(key);
      const isOnlyForward = event.text === "" && event.references?.some(({ kind }) => kind === "forward");
      const isLater = event.timestamp - (comment?.timestamp ?? 0) <= FORWARD_SECONDS * 1_000;
      if (event.addressed === "none")
        return comment !== undefined && isOnlyForward === true && isLater
          ? { ...event, addressed: comment.addressed }
          : event;
      if (event.addressed === "dm") return event;
      comments.delete(key);
      comments.set(key, { addressed: event.addressed, timestamp: event.timestamp });
      const [oldest] = comments.size > MAX_COMMENTS ? comments.keys() : [];
      if (oldest !== undefined) comments.delete(oldest);
      return event;
    });
}

function readIds(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === "number") : [];
}

function newest(albums: Payload): Json {
  const entries = Object.entries(albums).map(([album, ids]) => [album, [...readIds(ids)]] as const);
  const byAge = entries.toSorted(([, a], [, b]) => (a[0] ?? 0) - (b[0] ?? 0));
  return Object.fromEntries(byAge.slice(-MAX_ALBUMS));
}

/** Merges the parts of an album into one message with all images, captions and forwarded messages. */
export function mergeAlbum(events: readonly InboundEvent[]): readonly InboundEvent[] {
  const parts = events.filter((event): event is MessageEvent => event.type === "message");
  const [first] = parts;
  // A part that yields another event, such as a command in its caption, is not merged.
  if (first === undefined || parts.length < events.length || parts.length === 1) return events;
  const references = parts.flatMap((part) => part.references ?? []);
  return [
    {
      ...first,
      addressed: strongest.find((way) => parts.some(({ addressed }) => addressed === way)) ?? "none",
      text: parts
        .map(({ text }) => text)
        .filter((text) => text !== "")
        .join("\n"),
      media: parts.flatMap(({ media }) => media),
      mentions: parts.flatMap(({ mentions }) => mentions),
      ...(references.length === 0 ? {} : { references }),
    },
  ];
}

const strongest: readonly Addressed[] = ["dm", "mention", "reply"];
