import { escapeImitations } from "./headings.ts";
import { cleanText, oneLine } from "./neutralize.ts";

const MAX_NAME = 64;

/**
 * Formats a message as `[message_id: …]`, followed by `name: text`. Escapes lines that imitate these marks or a
 * heading.
 */
export function formatBody(message: {
  readonly messageId: string;
  readonly senderName: string;
  readonly text: string;
}): string {
  const id = oneLine(message.messageId, 200).replace(/[[\]]/g, "_");
  return `[message_id: ${id}]\n${cleanSenderName(message.senderName)}: ${escapeEnvelope(message.text)}`;
}

const WRITTEN_BODY = new RegExp(`^\\[message_id: [^\\n]*\\]\\n([^:\\n]{1,${MAX_NAME}}): ([\\s\\S]*)$`);

/** Parses a string from {@link formatBody}. Returns any other string without a name. */
export function readBody(body: string): { readonly name?: string; readonly text: string } {
  const [, name, text] = WRITTEN_BODY.exec(body) ?? [];
  return name === undefined || text === undefined ? { text: body } : { name, text };
}

/**
 * Sanitizes a name for the start of a message: one line of at most 64 characters, without control, direction or
 * invisible characters, and without the brackets and colons of the envelope.
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

function escapeEnvelope(text: string): string {
  return escapeImitations(cleanText(text));
}
