import { ChannelError, type OutboundPart, removeControlCharacters } from "@signalbox/channel";
import type { MessageContent } from "../api.ts";
import { limits } from "../limits.ts";
import { renderQuestion } from "./buttons.ts";
import { toWhatsApp } from "./markdown.ts";

/** @throws ChannelError `invalid`, `too_large`, `unsupported` */
export function renderPart(part: OutboundPart): MessageContent {
  switch (part.type) {
    case "text":
      return textContent(cleanText(part.text, limits.partLength));
    case "markdown":
      return textContent(cleanText(toWhatsApp(part.text), limits.partLength));
    case "buttons": {
      const text = cleanText(toWhatsApp(part.text), limits.questionLength);
      return { type: "interactive", interactive: renderQuestion(text, part.buttons) };
    }
    default:
      throw new ChannelError("unsupported", "WhatsApp: this type of part is not supported");
  }
}

/** Link previews are disabled, because WhatsApp would fetch the page before anyone taps the link. */
function textContent(body: string): MessageContent {
  return { type: "text", text: { body, preview_url: false } };
}

function cleanText(text: string, max: number): string {
  const clean = removeControlCharacters(text);
  if (clean.trim() === "") throw new ChannelError("invalid", "WhatsApp: the message is empty");
  if (clean.length <= max) return clean;
  throw new ChannelError("too_large", `WhatsApp: a message of this type can have at most ${max} characters`);
}
