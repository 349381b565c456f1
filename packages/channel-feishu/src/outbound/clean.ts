import { removeControlCharacters } from "@signalbox/channel";

/**
 * Removes control characters, which take six bytes each in JSON, and Feishu's mention tag, because a model must not be
 * able to notify people.
 */
export function clean(text: string): string {
  return removeControlCharacters(text).replace(/<(?=\/?at\b)/gi, "<\u200b");
}
