import {
  type ButtonsPart,
  ChannelError,
  fitLabel,
  type OutboundPart,
  removeControlCharacters,
} from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import type { CardText } from "./cards.ts";
import { escapeMarkdown, toCardMarkdown, toMessageMarkdown } from "./markdown.ts";

/** A message in the API's format: the key of a template, and its parameters. */
export interface Rendered {
  readonly msgKey: "sampleText" | "sampleMarkdown" | "sampleImageMsg" | "sampleFile" | "sampleAudio";
  readonly parameters: Readonly<Record<string, string>>;
}

/**
 * Renders a text.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderText(part: OutboundPart): Rendered {
  const text = readText(part);
  if (part.type === "text") return checked({ msgKey: "sampleText", parameters: { content: text } });
  const parameters = { title: createTitle(text), text: toMessageMarkdown(text) };
  return checked({ msgKey: "sampleMarkdown", parameters });
}

/**
 * Renders a text for a card, whose content is always Markdown.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderCardText(part: OutboundPart): string {
  const text = readText(part);
  const markdown = part.type === "text" ? escapeMarkdown(text) : toCardMarkdown(text);
  if (Buffer.byteLength(markdown) > limits.parameterBytes) throw tooLong();
  return markdown;
}

/** @throws ChannelError `too_large`, `invalid` */
export function renderQuestion(part: ButtonsPart): CardText {
  const markdown = renderCardText({ type: "markdown", text: part.text });
  return { markdown, isFinal: true, buttons: renderButtons(part.buttons) };
}

function readText(part: OutboundPart): string {
  if (part.type !== "text" && part.type !== "markdown")
    throw new ChannelError("unsupported", "DingTalk: this type of part is not supported");
  const text = removeControlCharacters(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "DingTalk: the message is empty");
  if (Buffer.byteLength(part.text) > limits.partBytes) throw tooLong();
  return text;
}

function checked(rendered: Rendered): Rendered {
  if (Buffer.byteLength(JSON.stringify(rendered.parameters)) > limits.parameterBytes) throw tooLong();
  return rendered;
}

function tooLong(): ChannelError {
  return new ChannelError("too_large", `DingTalk: a part can have at most ${limits.partBytes} bytes of text`);
}

/** Returns the first line without markup, which conversation lists and notifications show. */
function createTitle(text: string): string {
  const line = text.split("\n").find((one) => /[\p{L}\p{N}]/u.test(one)) ?? "";
  return fitLabel(line.replace(/[#*_`>~|[\]]/g, ""), limits.titleLength);
}
