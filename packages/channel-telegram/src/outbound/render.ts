import { ChannelError, type OutboundPart } from "@signalbox/channel";
import type { InlineKeyboardMarkup } from "grammy/types";
import { limits } from "../limits.ts";
import type { Buttons } from "./buttons.ts";
import type { FormattedText } from "./formatted.ts";
import { toTelegram } from "./markdown.ts";

/** A text message as the API wants it. */
export interface Rendered extends FormattedText {
  readonly keyboard?: InlineKeyboardMarkup;
}

/** @throws ChannelError `invalid`, `too_large`, `unsupported` */
export async function renderPart(part: OutboundPart, buttons: Buttons): Promise<Rendered> {
  if (part.type !== "buttons") return renderText(part);
  return { ...toTelegram(checked(part.text)), keyboard: await buttons.keyboard(part) };
}

/**
 * A part of words alone.
 *
 * @throws ChannelError `invalid`, `too_large`, `unsupported`
 */
export function renderText(part: OutboundPart): FormattedText {
  switch (part.type) {
    case "text":
      return { text: checked(part.text), entities: [] };
    case "markdown":
      return toTelegram(checked(part.text));
    default:
      throw new ChannelError("unsupported", "Telegram: this kind of part is not known here");
  }
}

/** Without what Telegram refuses, or counts in another way than we do. */
function checked(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it takes out.
  const clean = text.replace(/[\u0000-\u0008\u000b-\u001f]/g, "").toWellFormed();
  if (clean.trim() === "") throw new ChannelError("invalid", "Telegram: an empty message");
  if (clean.length <= limits.partLength) return clean;
  throw new ChannelError("too_large", `Telegram: a message holds at most ${limits.partLength} characters`);
}
