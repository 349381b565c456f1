import type { OutboundPart } from "@signalbox/channel";
import { type Phrases, phrasesFor } from "@signalbox/phrases";

/** The words for whoever was to read a message: in its own language. */
export function phrasesOfParts(parts: readonly OutboundPart[]): Phrases {
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return phrasesFor(undefined, texts.join("\n"));
}
