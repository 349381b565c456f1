import {
  ChannelError,
  type OutboundPart,
  objectsAt,
  type Payload,
  withoutControls,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { plainText, toDiscord } from "./markdown.ts";

/** A message as the API wants it. */
export interface Rendered {
  /** Absent where its words stand among the components, which `flags` says then. */
  readonly content?: string;
  readonly components: readonly unknown[];
  readonly flags: number;
  /** Nobody is called by what a model writes, least of all everybody; only the author of what is answered. */
  readonly allowed_mentions: { readonly parse: readonly never[]; readonly replied_user: true };
}

const calls = { parse: [], replied_user: true } as const;

/** The flag of a message without previews of links, which Discord would fetch before anybody clicks. */
const suppressEmbeds = 4;
/** The flag of a message that is made of components alone, which it stays for good. */
const componentsV2 = 32_768;

/** Source: Discord's page on components. */
const textDisplay = 10;

/**
 * Writes a part in what Discord renders. A question that is longer than an ordinary message is made of components, so
 * that it stands whole above its buttons.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type === "buttons" && part.text.length > limits.partLength) return renderAsComponents(part);
  const content = wordsOf(part, limits.partLength);
  return { content, components: buttonsOf(part), flags: suppressEmbeds, allowed_mentions: calls };
}

/**
 * The same for a message that is there. What is made of components stays so, and a question that would not fit
 * otherwise becomes so.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderChange(part: OutboundPart, before: Payload): Rendered {
  const isOfComponents = (Number(before["flags"]) & componentsV2) !== 0;
  const isLong = "text" in part && part.text.length > limits.partLength;
  const isQuestion = objectsAt(before, "components").length > 0;
  return isOfComponents || (isLong && isQuestion) ? renderAsComponents(part) : renderPart(part);
}

function renderAsComponents(part: OutboundPart): Rendered {
  const content = wordsOf(part, limits.componentTextLength);
  return {
    components: [{ type: textDisplay, content }, ...buttonsOf(part)],
    flags: componentsV2,
    allowed_mentions: calls,
  };
}

/** What a part says, in Discord's dialect. @throws ChannelError */
function wordsOf(part: OutboundPart, most: number): string {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons")
    throw new ChannelError("unsupported", "Discord: this kind of part is not known here");
  const text = withoutControls(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Discord: an empty message");
  if (part.text.length > most)
    throw new ChannelError("too_large", `Discord: this message holds at most ${most} characters`);
  return part.type === "text" ? plainText(text, most) : toDiscord(text, most);
}

function buttonsOf(part: OutboundPart): readonly unknown[] {
  return part.type === "buttons" ? renderButtons(part.buttons) : [];
}

/** The fields of a message that carries a file. */
export const withoutText: Omit<Rendered, "content" | "components" | "flags"> = { allowed_mentions: calls };
