const BEGINS = "token:";

/** Returns the sender id for a client that authenticates with a named gateway token. */
export function createTokenSenderId(token: string): string {
  return BEGINS + token;
}

/** Returns the name of the gateway token in a sender id, or `undefined` for any other sender. */
export function getTokenName(senderId: string): string | undefined {
  return senderId.startsWith(BEGINS) ? senderId.slice(BEGINS.length) : undefined;
}

/**
 * Returns the name of the gateway token in a speaker of the form `channel:id`. Returns `undefined` for channels whose
 * clients the gateway does not authenticate, since senders there can choose an id that looks the same.
 */
export function getSpeakerTokenName(
  speaker: string,
  isAuthenticated: (channel: string) => boolean,
): string | undefined {
  const [channel = "", ...rest] = speaker.split(":");
  return isAuthenticated(channel) ? getTokenName(rest.join(":")) : undefined;
}
