import type { OutboundPart } from "@signalbox/channel";
import { ChannelError, fitText, textLength } from "@signalbox/channel";
import { imageAsLink, renderMarkdown } from "@signalbox/channel/markdown";
import { limits } from "../limits.ts";

const size = { max: limits.contentBytes, unit: "bytes" } as const;

/** Syntax that needs to be changed. Other text stays as it is. */
const mayNeedRendering = /<@|!\[/;

/** WeCom's Markdown mentions a person, or everybody, with `<@id>`. A model must not cause that. */
function breakMentions(text: string): string {
  return text.replaceAll("<@", "<\u200b@");
}

/**
 * Prepares Markdown for WeCom, which renders CommonMark with tables. Images become links, because clients would load
 * them from any server.
 */
function toWecomMarkdown(markdown: string): string {
  if (!mayNeedRendering.test(markdown)) return markdown;
  return breakMentions(renderMarkdown(markdown, { image: imageAsLink }));
}

/**
 * Renders a part without an attachment.
 *
 * @throws ChannelError `unsupported`, `too_large`
 */
export function renderPart(part: OutboundPart): string {
  if (part.type !== "text" && part.type !== "markdown")
    throw new ChannelError("unsupported", `WeCom: a message cannot contain ${part.type}`);
  const content = part.type === "markdown" ? toWecomMarkdown(part.text) : breakMentions(part.text);
  const length = textLength(content, size.unit);
  if (length <= size.max) return content;
  throw new ChannelError("too_large", `WeCom: the message has ${length} bytes; the limit is ${size.max}`);
}

/** Renders a text that is still being written, and truncates it to the limit of one message. */
export function renderSnapshot(text: string): string {
  return fitText(toWecomMarkdown(text), size);
}
