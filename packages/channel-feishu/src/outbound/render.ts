import { ChannelError, type OutboundPart } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { renderButtons } from "./buttons.ts";
import { clean } from "./clean.ts";
import { toFeishu } from "./markdown.ts";

/** A message in the API's format. */
export interface Rendered {
  readonly msgType: "text" | "post" | "interactive" | "image" | "file" | "audio" | "media";
  /** JSON text. */
  readonly content: string;
}

/**
 * Renders a part: plain text as text, and Markdown as rich text, or as a card if it contains headings or tables, which
 * rich text does not support.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderPart(part: OutboundPart): Rendered {
  if (part.type !== "text" && part.type !== "markdown" && part.type !== "buttons") {
    throw new ChannelError("unsupported", "Feishu: this type of part is not supported");
  }
  const text = clean(part.text);
  if (text.trim() === "") throw new ChannelError("invalid", "Feishu: the message is empty");
  if (Buffer.byteLength(part.text) > limits.partBytes) {
    throw new ChannelError("too_large", `Feishu: a part can have at most ${limits.partBytes} bytes of text`);
  }
  if (part.type === "buttons")
    return checked(card([{ tag: "markdown", content: toFeishu(text).text }, ...renderButtons(part.buttons)]));
  if (part.type === "text") return { msgType: "text", content: JSON.stringify({ text: withoutLinks(text) }) };
  const written = toFeishu(text);
  switch (written.as) {
    case "text":
      return { msgType: "text", content: JSON.stringify({ text }) };
    case "card":
      return checked(card([{ tag: "markdown", content: written.text }]));
    case "post": {
      const content = { zh_cn: { content: [[{ tag: "md", text: written.text }]] } };
      return checked({ msgType: "post", content: JSON.stringify(content) });
    }
  }
}

/** Breaks Markdown links, because text messages would render a link whose label hides the URL. */
function withoutLinks(text: string): string {
  return text.replaceAll("](", "]\u200b(");
}

/**
 * Renders any part as a card, the only type of message that can be changed any number of times.
 *
 * @throws ChannelError `too_large`, `invalid`, `unsupported`
 */
export function renderCard(part: OutboundPart): string {
  const { msgType, content } = renderPart(part);
  if (msgType === "interactive" || (part.type !== "text" && part.type !== "markdown")) return content;
  const text = clean(part.text);
  const element =
    part.type === "text"
      ? { tag: "div", text: { tag: "plain_text", content: text } }
      : { tag: "markdown", content: toFeishu(text).text };
  return checked(card([element])).content;
}

/** Renders Markdown for the element of a growing card. */
export function cardMarkdown(text: string): string {
  return toFeishu(clean(text)).text;
}

/** Id of the element into which text is streamed. */
export const answerElement = "answer";

/** Renders a card with one element for streaming. */
export function renderStreamingCard(markdown: string): string {
  const elements = [{ tag: "markdown", element_id: answerElement, content: markdown }];
  return card(elements, { streaming_mode: true }).content;
}

function card(elements: readonly unknown[], config: Readonly<Record<string, unknown>> = {}): Rendered {
  const content = { schema: "2.0", config: { update_multi: true, ...config }, body: { elements } };
  return { msgType: "interactive", content: JSON.stringify(content) };
}

function checked(rendered: Rendered): Rendered {
  if (Buffer.byteLength(rendered.content) <= limits.cardBytes) return rendered;
  throw new ChannelError(
    "too_large",
    `Feishu: a message of this type can have at most ${limits.cardBytes} bytes`,
  );
}
