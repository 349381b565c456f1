/** Prefix of such keys. Keys of groups begin with a channel's id. */
const UNDELIVERED = "undelivered";

/** Maximum length of the shown start of a message, in UTF-16 code units. */
const MAX_TEXT = 200;

/** Returns the key under which a session's messages that were not delivered are stored for its next run. */
export function getUndeliveredKey(sessionKey: string): string {
  return JSON.stringify([UNDELIVERED, sessionKey]);
}

/** Returns true if a key comes from {@link getUndeliveredKey}. */
export function isUndeliveredKey(key: string): boolean {
  return key.startsWith(`["${UNDELIVERED}",`);
}

/** Describes a message that was not delivered, with the platform's reason. */
export function createUndeliveredBody(text: string, reason: string): Readonly<Record<"text", string>> {
  const start = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()}…` : text;
  return { text: `Not delivered: ${reason}\n\n${start}` };
}
