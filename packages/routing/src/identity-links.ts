/** People with several ids: each name with its ids in the form `channel:id`. */
export type IdentityLinks = Readonly<Record<string, readonly string[]>>;

/** Lookup from ids to people. */
export interface Identities {
  /** Returns the name of the person to whom a channel's peer is linked, if any. */
  findPerson(channel: string, peerId: string): string | undefined;
  /** Returns true if a linked person has this name. */
  isPerson(name: string): boolean;
}

/** Indexes identity links. An id under several names belongs to the first one. An id without a channel is ignored. */
export function parseIdentityLinks(links: IdentityLinks = {}): Identities {
  const people = new Map<string, string>();
  for (const [name, ids] of Object.entries(links)) {
    for (const id of ids) if (!people.has(id)) people.set(id, name);
  }
  return {
    // Channel ids contain no colon, so the first colon of a link ends the channel id.
    findPerson: (channel, peerId) =>
      channel === "" || channel.includes(":") ? undefined : people.get(`${channel}:${peerId}`),
    isPerson: (name) => Object.hasOwn(links, name),
  };
}
