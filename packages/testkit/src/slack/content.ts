import { isRaw, type Raw } from "../raw.ts";
import { objectsOf, textOf } from "./reply.ts";

/** The content of a message. */
export interface Content {
  readonly text: string;
  readonly blocks?: readonly Raw[];
  readonly attachments?: readonly Raw[];
}

/**
 * Sources: the reference pages of `chat.postMessage` (text truncated above 40,000 characters, `markdown_text` of
 * 12,000) and of Block Kit (50 blocks, a section of 3,000, 25 elements, an action id of 255, a value of 2,000, a label
 * of 75, 100 options with a value of 75 each), and slackapi/bolt-js#2509 for the limit of all blocks together.
 */
const limits = {
  text: 40_000,
  markdown: 12_000,
  blocks: 50,
  allBlocks: 13_200,
  section: 3_000,
  elements: 25,
  actionId: 255,
  value: 2_000,
  options: 100,
  optionValue: 75,
  label: 75,
} as const;

/** Returns the content of a call, or a Slack error code. */
export function readContent(args: Raw): Content | string {
  const text = textOf(args, "text") ?? "";
  const markdown = textOf(args, "markdown_text");
  const { blocks } = args;
  if (markdown !== undefined && (text !== "" || blocks !== undefined)) return "markdown_text_conflict";
  if (markdown !== undefined) {
    if (markdown.length > limits.markdown) return "msg_too_long";
    return { text: markdown, blocks: [{ type: "markdown", text: markdown }] };
  }
  if (blocks === undefined) return text === "" ? "no_text" : { text: text.slice(0, limits.text) };
  if (!Array.isArray(blocks) || !blocks.every(isRaw)) return "invalid_blocks_format";
  if (blocks.length > limits.blocks) return "invalid_blocks";
  if (blocks.some((block) => !isSound(block))) return "invalid_blocks";
  const markdownLength = blocks.filter(({ type }) => type === "markdown").map((block) => words(block).length);
  if (markdownLength.reduce((sum, length) => sum + length, 0) > limits.markdown) return "msg_blocks_too_long";
  const all = blocks.reduce((sum, block) => sum + words(block).length, 0);
  return all > limits.allBlocks ? "msg_blocks_too_long" : { text: text.slice(0, limits.text), blocks };
}

function isSound(block: Raw): boolean {
  switch (block["type"]) {
    case "markdown":
      return words(block) !== "";
    case "section":
      return words(block) !== "" && words(block).length <= limits.section;
    case "rich_text":
      return objectsOf(block["elements"]).length > 0;
    case "actions": {
      const elements = objectsOf(block["elements"]);
      const ids = new Set(elements.map((element) => element["action_id"]));
      return (
        elements.length > 0 &&
        elements.length <= limits.elements &&
        ids.size === elements.length &&
        elements.every(isSoundElement)
      );
    }
    case "divider":
    case "image":
    case "context":
    case "header":
      return true;
    default:
      return false;
  }
}

function isSoundElement(element: Raw): boolean {
  return element["type"] === "static_select" ? isSoundMenu(element) : isSoundButton(element);
}

function isSoundMenu({ options, action_id: id }: Raw): boolean {
  const offered = objectsOf(options);
  return (
    typeof id === "string" &&
    id.length <= limits.actionId &&
    offered.length > 0 &&
    offered.length <= limits.options &&
    offered.every(({ text, value }) => {
      const label = isRaw(text) && text["type"] === "plain_text" ? textOf(text, "text") : undefined;
      const isLabelled = label !== undefined && label !== "" && label.length <= limits.label;
      return isLabelled && typeof value === "string" && value.length <= limits.optionValue;
    })
  );
}

function isSoundButton(element: Raw): boolean {
  const label = isRaw(element["text"]) ? textOf(element["text"], "text") : undefined;
  const id = textOf(element, "action_id");
  const { style, value } = element;
  return (
    element["type"] === "button" &&
    label !== undefined &&
    label.length <= limits.label &&
    id !== undefined &&
    id.length <= limits.actionId &&
    (value === undefined || (typeof value === "string" && value.length <= limits.value)) &&
    (style === undefined || style === "primary" || style === "danger")
  );
}

/** Returns the text that people read in a message. */
export function shownBy({ text, blocks }: Content): string {
  if (blocks === undefined)
    return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
  return blocks
    .map(words)
    .filter((each) => each !== "")
    .join("\n");
}

/** Returns the text of a block, including nested ones. */
function words(block: Raw): string {
  const { text } = block;
  if (typeof text === "string") return text;
  if (isRaw(text)) return words(text);
  return objectsOf(block["elements"])
    .filter(({ type }) => type !== "button")
    .map(words)
    .join("");
}
