const BEGINS = "token:";

/** The id of a sender who holds a token of the gateway that has a name. */
export function tokenHolder(token: string): string {
  return BEGINS + token;
}

/** The name of the token that a sender holds; undefined for anyone else. */
export function tokenOfHolder(senderId: string): string | undefined {
  return senderId.startsWith(BEGINS) ? senderId.slice(BEGINS.length) : undefined;
}

/**
 * The same of a sender with the channel in front, as runs know who speaks. Elsewhere than on channels whose senders the
 * gateway itself lets in, an id only looks like that.
 */
export function tokenOfSpeaker(
  speaker: string,
  isAuthenticated: (channel: string) => boolean,
): string | undefined {
  const [channel = "", ...rest] = speaker.split(":");
  return isAuthenticated(channel) ? tokenOfHolder(rest.join(":")) : undefined;
}
