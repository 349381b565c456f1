import { ChannelError, type OutboundPart, removeControlCharacters } from "@signalbox/channel";
import type { InlineKeyboardMarkup } from "grammy/types";
import type { TelegramConfig } from "../config.ts";
import { limits } from "../limits.ts";
import type { Buttons } from "./buttons.ts";
import type { FormattedText } from "./formatted.ts";
import { toTelegram } from "./markdown.ts";
import { type RichBlock, toRich } from "./rich.ts";

/** The account's settings for rendering. */
export type RenderSettings = Pick<TelegramConfig, "richMessages">;

/** A text message in the API's format. */
export interface Rendered extends FormattedText {
  /** The same content as a rich message, if that shows more. Its fallback is `text`. */
  readonly rich?: readonly RichBlock[];
  readonly keyboard?: InlineKeyboardMarkup;
}

/** @throws ChannelError `invalid`, `too_large`, `unsupported` */
export async function renderPart(
  part: OutboundPart,
  buttons: Buttons,
  settings: RenderSettings,
): Promise<Rendered> {
  if (part.type !== "buttons") return renderText(part, settings);
  return { ...renderMarkdown(part.text, settings), keyboard: await buttons.keyboard(part) };
}

/**
 * Renders a part that consists only of text.
 *
 * @throws ChannelError `invalid`, `too_large`, `unsupported`
 */
export function renderText(part: OutboundPart, settings: RenderSettings): Rendered {
  switch (part.type) {
    case "text":
      return { text: cleanText(part.text), entities: [] };
    case "markdown":
      return renderMarkdown(part.text, settings);
    default:
      throw new ChannelError("unsupported", "Telegram: this type of part is not supported");
  }
}

function renderMarkdown(markdown: string, { richMessages }: RenderSettings): Rendered {
  const clean = cleanText(markdown);
  const rich = richMessages ? toRich(clean) : undefined;
  return { ...toTelegram(clean), rich };
}

/** Removes control characters, which Telegram rejects or counts differently. */
function cleanText(text: string): string {
  const clean = removeControlCharacters(text);
  if (clean.trim() === "") throw new ChannelError("invalid", "Telegram: the message is empty");
  if (clean.length <= limits.partLength) return clean;
  throw new ChannelError("too_large", `Telegram: a message can have at most ${limits.partLength} characters`);
}
