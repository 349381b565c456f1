import { ChannelError, fitText, type OutboundPart, withoutControls } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { toMarkdownBlock } from "./markdown.ts";
import { escapeText, toMrkdwn } from "./mrkdwn.ts";

type Block = Readonly<Record<string, unknown>>;

/** What a message holds, as the API wants it. */
export interface Rendered {
  /** In Slack's own markup: for notifications where there are blocks, else the message itself. */
  readonly text: string;
  readonly blocks?: readonly Block[];
  /** The Markdown, where it is nothing else: what streams take. */
  readonly markdown?: string;
}

/**
 * Writes a part in what Slack renders: plain words as rich text, which reads nothing as markup, Markdown as a Markdown
 * block.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons")
    throw new ChannelError("unsupported", "Slack: this kind of part is not known here");
  if (part.text.length > limits.partLength)
    throw new ChannelError("too_large", `Slack: a part holds at most ${limits.partLength} characters`);
  const text = withoutControls(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Slack: an empty message");
  if (part.type === "text") return { text: fallback(escapeText(text)), blocks: [plainBlock(text)] };
  const { blocks, markdown, ...rest } = renderMarkdown(text);
  if (part.type === "markdown") return { ...rest, ...(blocks && { blocks }), ...(markdown && { markdown }) };
  const question = blocks ?? [plainBlock(text)];
  return { ...rest, blocks: [...question, { type: "actions", elements: renderButtons(part.buttons) }] };
}

function renderMarkdown(text: string): Rendered {
  const markdown = toMarkdownBlock(text);
  // Taking calls apart may have made it longer than a block can be.
  if (markdown.length > limits.partLength) return { text: withinText(toMrkdwn(text)) };
  return { text: fallback(toMrkdwn(text)), blocks: [{ type: "markdown", text: markdown }], markdown };
}

/** The same without blocks, for a workspace that does not take them. */
export function renderWithoutBlocks(part: OutboundPart): Rendered {
  if (part.type === "markdown") return { text: withinText(toMrkdwn(withoutControls(part.text))) };
  if (part.type === "text") return { text: withinText(escapeText(withoutControls(part.text))) };
  throw new ChannelError("unsupported", "Slack: buttons are not shown without blocks");
}

function plainBlock(text: string): Block {
  const section = { type: "rich_text_section", elements: [{ type: "text", text }] };
  return { type: "rich_text", elements: [section] };
}

function fallback(text: string): string {
  return fitText(text, { max: limits.fallbackLength, unit: "utf16" });
}

function withinText(text: string): string {
  if (text.length <= limits.textLength) return text;
  throw new ChannelError("too_large", `Slack: a text holds at most ${limits.textLength} characters`);
}
