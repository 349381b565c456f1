import { ChannelError, type OutboundPart, withoutControls } from "@signalbox/channel";
import type { InlineKeyboardMarkup } from "grammy/types";
import type { TelegramConfig } from "../config.ts";
import { limits } from "../limits.ts";
import type { Buttons } from "./buttons.ts";
import type { FormattedText } from "./formatted.ts";
import { toTelegram } from "./markdown.ts";
import { type RichBlock, toRich } from "./rich.ts";

/** What the account is set to. */
export type RenderSettings = Pick<TelegramConfig, "richMessages">;

/** A text message as the API wants it. */
export interface Rendered extends FormattedText {
  /** The same as a rich message, where that shows more: the text is for where Telegram refuses it. */
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
 * A part of words alone.
 *
 * @throws ChannelError `invalid`, `too_large`, `unsupported`
 */
export function renderText(part: OutboundPart, settings: RenderSettings): Rendered {
  switch (part.type) {
    case "text":
      return { text: checked(part.text), entities: [] };
    case "markdown":
      return renderMarkdown(part.text, settings);
    default:
      throw new ChannelError("unsupported", "Telegram: this kind of part is not known here");
  }
}

function renderMarkdown(markdown: string, { richMessages }: RenderSettings): Rendered {
  const clean = checked(markdown);
  const rich = richMessages ? toRich(clean) : undefined;
  return { ...toTelegram(clean), ...(rich === undefined ? {} : { rich }) };
}

/** Without what Telegram refuses, or counts in another way than we do. */
function checked(text: string): string {
  const clean = withoutControls(text);
  if (clean.trim() === "") throw new ChannelError("invalid", "Telegram: an empty message");
  if (clean.length <= limits.partLength) return clean;
  throw new ChannelError("too_large", `Telegram: a message holds at most ${limits.partLength} characters`);
}
