import {
  type ChannelContext,
  isPayload,
  type Json,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { updateIdOf } from "./update.ts";

/** As many albums as are remembered. */
const mostAlbums = 50;

/** The album that a message of an update is part of. Telegram sends each picture as a message of its own. */
export function albumOf(update: Payload): string | undefined {
  const message = isPayload(update["message"])
    ? objectAt(update, "message")
    : objectAt(update, "channel_post");
  return textAt(message, "media_group_id");
}

/**
 * Which updates are one message. What belongs to an album is written down before it is handed over: updates that come
 * again after a crash are put together the same way, and a picture that came too late for its album is a message of its
 * own, then and later.
 */
export interface Albums {
  /**
   * What is to be handed over at the place of each update: itself, its whole album at the place of the first part, and
   * nothing at the places of the others.
   */
  arrange(updates: readonly Payload[]): Promise<ReadonlyMap<Payload, readonly Payload[]>>;
}

export function createAlbums({ state }: Pick<ChannelContext, "state">, botId: () => string): Albums {
  const key = (): string => `${botId()}/albums`;
  /** Writing one album down must not undo what is written down for another. */
  let last: Promise<unknown> = Promise.resolve();

  /** The numbers of the updates that are the album, the first of them first. */
  function membersOf(album: string, present: readonly number[]): Promise<readonly number[]> {
    const members = last.then(async () => {
      const saved = await state.get(key());
      const known = isPayload(saved) ? saved : {};
      const before = numbersIn(known[album]);
      const [first] = before;
      // Handed over already: what came late stays apart from it.
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
      for (const [album, parts] of partsByAlbum(updates)) {
        const members = await membersOf(
          album,
          parts.flatMap((part) => updateIdOf(part) ?? []),
        );
        const together = parts.filter((part) => members.includes(updateIdOf(part) ?? -1));
        for (const part of together) arranged.set(part, updateIdOf(part) === members[0] ? together : []);
      }
      return arranged;
    },
  };
}

function partsByAlbum(updates: readonly Payload[]): ReadonlyMap<string, readonly Payload[]> {
  const albums = new Map<string, Payload[]>();
  for (const update of updates) {
    const album = albumOf(update);
    if (album !== undefined) albums.set(album, [...(albums.get(album) ?? []), update]);
  }
  // Requests do not keep the order in which the parts were sent.
  for (const parts of albums.values()) parts.sort((a, b) => (updateIdOf(a) ?? 0) - (updateIdOf(b) ?? 0));
  return albums;
}

function numbersIn(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.filter((id) => typeof id === "number") : [];
}

function newest(albums: Payload): Json {
  const entries = Object.entries(albums).map(([album, ids]) => [album, [...numbersIn(ids)]] as const);
  const byAge = entries.toSorted(([, a], [, b]) => (a[0] ?? 0) - (b[0] ?? 0));
  return Object.fromEntries(byAge.slice(-mostAlbums));
}
