/** People known by several ids: a name, and ids written `channel:id`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/** Identity links the other way round: from an id to the person. */
export interface Identities {
  /** The linked person behind a peer of a channel. */
  personOf(channel: string, peerId: string): string | undefined;
  /** Whether a person is linked under this name. */
  isPerson(name: string): boolean;
}

/** Ids listed under several names belong to the first; ids without a channel belong to no one. */
export function readIdentityLinks(links: IdentityLinks = {}): Identities {
  const people = new Map<string, string>();
  for (const [name, ids] of Object.entries(links)) {
    for (const id of ids) if (!people.has(id)) people.set(id, name);
  }
  return {
    // A channel's id holds no colon, so the first one of a link ends it.
    personOf: (channel, peerId) =>
      channel === "" || channel.includes(":") ? undefined : people.get(`${channel}:${peerId}`),
    isPerson: (name) => Object.hasOwn(links, name),
  };
}
