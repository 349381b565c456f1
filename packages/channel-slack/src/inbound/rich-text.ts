import { objectAt, objectsAt, type Payload, textAt } from "@signalbox/channel";
import { getEmoji } from "../emoji.ts";

/** Resolves ids in a text. */
export interface Names {
  /** Returns the name with a leading @. */
  user(id: string): string;
}

/** Converts a `rich_text` block from Slack's editor to Markdown. */
export function richTextToMarkdown(block: Payload, names: Names): string {
  return objectsAt(block, "elements")
    .map((element) => readBlock(element, names))
    .filter((text) => text !== "")
    .join("\n");
}

function readBlock(element: Payload, names: Names): string {
  switch (element["type"]) {
    case "rich_text_section":
      return readInline(element, names).trimEnd();
    case "rich_text_quote":
      return prefixLines(readInline(element, names), "> ");
    case "rich_text_preformatted":
      return `\`\`\`\n${readInline(element, names, "plain").replace(/\n$/, "")}\n\`\`\``;
    case "rich_text_list":
      return readList(element, names);
    default:
      return "";
  }
}

function readList(list: Payload, names: Names): string {
  const isOrdered = list["style"] === "ordered";
  const indent = "  ".repeat(Math.min(Math.max(Number(list["indent"]) || 0, 0), 8));
  return objectsAt(list, "elements")
    .map((item, index) => `${indent}${isOrdered ? `${index + 1}.` : "-"} ${readBlock(item, names)}`)
    .join("\n");
}

function readInline(section: Payload, names: Names, as: "markdown" | "plain" = "markdown"): string {
  return objectsAt(section, "elements")
    .map((element) => {
      const words = readWords(element, names);
      return as === "plain" ? words : applyStyle(words, objectAt(element, "style"));
    })
    .join("");
}

function readWords(element: Payload, names: Names): string {
  switch (element["type"]) {
    case "text":
      return (textAt(element, "text") ?? "").replaceAll("\u0000", "");
    case "link": {
      const url = textAt(element, "url") ?? "";
      const label = textAt(element, "text");
      return label === undefined || label === url ? url : `[${label}](${url})`;
    }
    case "user":
      return names.user(textAt(element, "user_id") ?? "");
    case "channel":
      return `#${textAt(element, "channel_id") ?? ""}`;
    case "usergroup":
      return `@${textAt(element, "usergroup_id") ?? ""}`;
    case "broadcast":
      return `@${textAt(element, "range") ?? ""}`;
    case "emoji": {
      const name = textAt(element, "name") ?? "";
      return getEmoji(name) ?? `:${name}:`;
    }
    case "date":
      return textAt(element, "fallback") ?? "";
    default:
      return "";
  }
}

const marks: readonly (readonly [string, string])[] = [
  ["code", "`"],
  ["strike", "~~"],
  ["italic", "_"],
  ["bold", "**"],
];

/** Markdown marks must not be adjacent to spaces on the inside. */
function applyStyle(text: string, style: Payload): string {
  const words = text.trim();
  if (words === "" || words.includes("\n")) return text;
  const start = text.indexOf(words);
  const marked = marks.reduce(
    (inner, [name, mark]) => (style[name] === true ? mark + inner + mark : inner),
    words,
  );
  return text.slice(0, start) + marked + text.slice(start + words.length);
}

function prefixLines(text: string, prefix: string): string {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => prefix + line)
    .join("\n");
}
