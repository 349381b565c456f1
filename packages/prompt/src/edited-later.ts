/** What such keys begin with; keys of groups begin with a channel's id. */
const EDITED = "edited";

/** The key under which edits of answered messages are stored for the next run of their session. */
export function editsKey(sessionKey: string): string {
  return JSON.stringify([EDITED, sessionKey]);
}

/** Returns whether a key comes from {@link editsKey}. */
export function isEditsKey(key: string): boolean {
  return key.startsWith(`["${EDITED}",`);
}
