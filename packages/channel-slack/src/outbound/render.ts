import { ChannelError, fitText, type OutboundPart, removeControlCharacters } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { toMarkdownBlock } from "./markdown.ts";
import { escapeText, toMrkdwn } from "./mrkdwn.ts";

type Block = Readonly<Record<string, unknown>>;

/** Content of a message in the API's format. */
export interface Rendered {
  /** Text in mrkdwn: the notification text if there are blocks, otherwise the message itself. */
  readonly text: string;
  readonly blocks?: readonly Block[];
  /** Source of a message that consists only of Markdown. Streams need it. */
  readonly markdown?: string;
}

/**
 * Renders a part: plain text as rich text, which contains no markup, and Markdown as a Markdown block.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons")
    throw new ChannelError("unsupported", "Slack: this type of part is not supported");
  if (part.text.length > limits.partLength)
    throw new ChannelError("too_large", `Slack: a part can have at most ${limits.partLength} characters`);
  const text = removeControlCharacters(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Slack: the message is empty");
  if (part.type === "text")
    return { text: shortenFallback(escapeText(text)), blocks: [createPlainBlock(text)] };
  const { blocks, markdown, ...rest } = renderMarkdown(text);
  if (part.type === "markdown") return { ...rest, ...(blocks && { blocks }), ...(markdown && { markdown }) };
  const question = blocks ?? [createPlainBlock(text)];
  return { ...rest, blocks: [...question, { type: "actions", elements: renderButtons(part.buttons) }] };
}

function renderMarkdown(text: string): Rendered {
  const markdown = toMarkdownBlock(text);
  // Escaped mentions can make the text too long for a block.
  if (markdown.length > limits.partLength) return { text: checkTextLength(toMrkdwn(text)) };
  return { text: shortenFallback(toMrkdwn(text)), blocks: [{ type: "markdown", text: markdown }], markdown };
}

/** Renders a part without blocks, for workspaces that reject them. */
export function renderWithoutBlocks(part: OutboundPart): Rendered {
  if (part.type === "markdown")
    return { text: checkTextLength(toMrkdwn(removeControlCharacters(part.text))) };
  if (part.type === "text") return { text: checkTextLength(escapeText(removeControlCharacters(part.text))) };
  throw new ChannelError("unsupported", "Slack: buttons require blocks");
}

function createPlainBlock(text: string): Block {
  const section = { type: "rich_text_section", elements: [{ type: "text", text }] };
  return { type: "rich_text", elements: [section] };
}

function shortenFallback(text: string): string {
  return fitText(text, { max: limits.fallbackLength, unit: "utf16" });
}

function checkTextLength(text: string): string {
  if (text.length <= limits.textLength) return text;
  throw new ChannelError("too_large", `Slack: a text can have at most ${limits.textLength} characters`);
}
