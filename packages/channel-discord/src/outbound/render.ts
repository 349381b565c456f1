import {
  ChannelError,
  type OutboundPart,
  objectsAt,
  type Payload,
  removeControlCharacters,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { plainText, toDiscordMarkdown } from "./markdown.ts";

/** A message in the API's format. */
export interface Rendered {
  /** Absent if the components contain the text, as indicated by `flags`. */
  readonly content?: string;
  readonly components: readonly unknown[];
  readonly flags: number;
  /** Text from a model cannot ping anyone. Only the author of the quoted message is notified. */
  readonly allowed_mentions: { readonly parse: readonly never[]; readonly replied_user: true };
}

const allowedMentions = { parse: [], replied_user: true } as const;

/** Message flag that disables link previews, which Discord would fetch before anyone clicks. */
const SUPPRESS_EMBEDS = 4;
/** Message flag for a message made only of components. It cannot be removed later. */
const COMPONENTS_V2 = 32_768;

/** Source: "Component Reference". */
const TEXT_DISPLAY = 10;

/**
 * Renders a part. A question that is too long for an ordinary message is built from components, so that it is shown in
 * full above its buttons.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type === "buttons" && part.text.length > limits.partLength) return renderAsComponents(part);
  const content = renderText(part, limits.partLength);
  return {
    content,
    components: renderButtonRows(part),
    flags: SUPPRESS_EMBEDS,
    allowed_mentions: allowedMentions,
  };
}

/**
 * Renders an edit. A message built from components stays one, and a question that no longer fits becomes one.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderChange(part: OutboundPart, before: Payload): Rendered {
  const isOfComponents = (Number(before["flags"]) & COMPONENTS_V2) !== 0;
  const isLong = "text" in part && part.text.length > limits.partLength;
  const isQuestion = objectsAt(before, "components").length > 0;
  return isOfComponents || (isLong && isQuestion) ? renderAsComponents(part) : renderPart(part);
}

function renderAsComponents(part: OutboundPart): Rendered {
  const content = renderText(part, limits.componentTextLength);
  return {
    components: [{ type: TEXT_DISPLAY, content }, ...renderButtonRows(part)],
    flags: COMPONENTS_V2,
    allowed_mentions: allowedMentions,
  };
}

/**
 * Returns the text of a part in Discord's dialect.
 *
 * @throws ChannelError
 */
function renderText(part: OutboundPart, max: number): string {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons")
    throw new ChannelError("unsupported", "Discord: this type of part is not supported");
  const text = removeControlCharacters(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Discord: the message is empty");
  if (part.text.length > max)
    throw new ChannelError("too_large", `Discord: this message can have at most ${max} characters`);
  return part.type === "text" ? plainText(text, max) : toDiscordMarkdown(text, max);
}

function renderButtonRows(part: OutboundPart): readonly unknown[] {
  return part.type === "buttons" ? renderButtons(part.buttons) : [];
}

/** `IS_VOICE_MESSAGE`. Such a message contains exactly one recording and no text. */
const VOICE_MESSAGE = 1 << 13;

/** Fields of a message with a recording that is shown as a voice message. */
export const VOICE_FIELDS: Omit<Rendered, "content" | "components"> = {
  allowed_mentions: allowedMentions,
  flags: VOICE_MESSAGE,
};

/** Fields of a message with a file. */
export const FILE_MESSAGE: Omit<Rendered, "content" | "components" | "flags"> = {
  allowed_mentions: allowedMentions,
};
