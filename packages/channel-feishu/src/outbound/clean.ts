import { removeControlCharacters } from "@signalbox/channel";

/**
 * Without control characters, which take six bytes each, and without Feishu's tag for mentions: the model may not
 * call anybody, least of all everybody, by writing it.
 */
export function clean(text: string): string {
  return removeControlCharacters(text).replace(/<(?=\/?at\b)/gi, "<\u200b");
}
