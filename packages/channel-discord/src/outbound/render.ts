import { ChannelError, type OutboundPart } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { plainText, toDiscord } from "./markdown.ts";

/** A message as the API wants it. */
export interface Rendered {
  readonly content: string;
  readonly components: readonly unknown[];
  /** Nobody is called by what a model writes, least of all everybody; only the author of what is answered. */
  readonly allowed_mentions: { readonly parse: readonly never[]; readonly replied_user: true };
}

const calls = { parse: [], replied_user: true } as const;

/**
 * Writes a part in what Discord renders.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons")
    throw new ChannelError("unsupported", "Discord: this kind of part is not known here");
  const text = clean(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Discord: an empty message");
  if (part.text.length > limits.partLength)
    throw new ChannelError("too_large", `Discord: a message holds at most ${limits.partLength} characters`);
  return {
    content: part.type === "text" ? plainText(text) : toDiscord(text),
    components: part.type === "buttons" ? renderButtons(part.buttons) : [],
    allowed_mentions: calls,
  };
}

/** The fields of a message that carries a file. */
export const withoutText: Omit<Rendered, "content" | "components"> = { allowed_mentions: calls };

/** Without control characters, and with whole characters alone. */
function clean(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it takes out.
      .replace(/[\u0000-\u0008\u000b-\u001f]/g, "")
      .toWellFormed()
  );
}
