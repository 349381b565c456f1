import { IMITATED_HEADING } from "./headings.ts";
import { cleanText, oneLine } from "./neutralise.ts";

const MAX_NAME = 64;

/** The plain message: `[message_id: …]`, then `name: text`. Lines that imitate the marks made here are escaped. */
export function formatBody(message: {
  readonly messageId: string;
  readonly senderName: string;
  readonly text: string;
}): string {
  const id = oneLine(message.messageId, 200).replace(/[[\]]/g, "_");
  return `[message_id: ${id}]\n${cleanSenderName(message.senderName)}: ${escapeEnvelope(message.text)}`;
}

const WRITTEN_BODY = new RegExp(`^\\[message_id: [^\\n]*\\]\\n([^:\\n]{1,${MAX_NAME}}): ([\\s\\S]*)$`);

/** Who said what in a message as {@link formatBody} made it; without an envelope it is a text without a name. */
export function readBody(body: string): { readonly name?: string; readonly text: string } {
  const [, name, text] = WRITTEN_BODY.exec(body) ?? [];
  return name === undefined || text === undefined ? { text: body } : { name, text };
}

/**
 * A name as it may stand before a message: one line of at most 64 characters, without control, direction or invisible
 * characters, and without the brackets and colons that the envelope is made of.
 */
export function cleanSenderName(name: string): string {
  const clean = oneLine(name, MAX_NAME)
    .replace(/[[［【]/g, "(")
    .replace(/[\]］】]/g, ")")
    .replace(/\s*[:：︰﹕]+\s*/g, " ")
    .replace(/[`#<>]/g, "")
    .trim();
  return clean === "" ? "unknown" : clean;
}

const ENVELOPE = new RegExp(
  `^([^\\S\\n]*)(?=\\[[^\\S\\n]*message_id[^\\S\\n]*[:：]|${IMITATED_HEADING})`,
  "gimu",
);

function escapeEnvelope(text: string): string {
  return cleanText(text).replace(ENVELOPE, "$1\\");
}
