import { type ButtonsPart, ChannelError, fitText, type OutboundPart } from "@signalbox/channel";
import { writeActionId } from "../action-id.ts";
import { limits } from "../limits.ts";
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
  const text = clean(part.text);
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
  if (part.type === "markdown") return { text: withinText(toMrkdwn(clean(part.text))) };
  if (part.type === "text") return { text: withinText(escapeText(clean(part.text))) };
  throw new ChannelError("unsupported", "Slack: buttons are not shown without blocks");
}

/** Without control characters, which are nothing to read. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it takes out.
  return text.replace(/[\u0000-\u0008\u000b-\u001f]/g, "").toWellFormed();
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

function renderButtons(buttons: ButtonsPart["buttons"]): readonly Block[] {
  if (buttons.length > limits.buttons)
    throw new ChannelError("too_large", `Slack: a message holds at most ${limits.buttons} buttons`);
  return buttons.map(({ id, label, style = "default", value }, index) => {
    const actionId = writeActionId(id, index);
    const written = value === undefined ? undefined : JSON.stringify(value);
    if (actionId.length > limits.actionIdLength || Buffer.byteLength(written ?? "") > limits.callbackBytes)
      throw new ChannelError(
        "too_large",
        `Slack: a button's value holds at most ${limits.callbackBytes} bytes`,
      );
    return {
      type: "button",
      action_id: actionId,
      text: { type: "plain_text", text: fitText(clean(label), { max: limits.labelLength, unit: "utf16" }) },
      ...(style === "default" ? {} : { style }),
      ...(written === undefined ? {} : { value: written }),
    };
  });
}
