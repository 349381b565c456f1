import {
  isPayload,
  type MediaRef,
  type Mention,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { readAttachments } from "./media.ts";
import { describeSpecialContent } from "./special-content.ts";
import {
  type Bot,
  getLinkMarks,
  markdownMarks,
  mentionName,
  mentionUser,
  parseCommand,
  type ReadText,
  stripOwnMention,
} from "./text.ts";

/** Maximum recursion depth. Telegram nests up to 16 levels, each of which takes several levels of recursion here. */
const MAX_LEVELS = 64;

/** Converts a rich message to Markdown and collects its attachments. Source: the Bot API's `RichMessage`. */
export function readRich(message: Payload, bot: Bot): ReadText & { readonly media: readonly MediaRef[] } {
  const reader = new RichReader(bot);
  const raw = reader.blocksIn(message, 0);
  const { mentions, media, firstCommand } = reader;
  const command = raw.startsWith(firstCommand) ? parseCommand(raw, firstCommand.length) : undefined;
  return {
    text: stripOwnMention(raw, bot),
    mentions,
    media,
    command,
  };
}

/** Writes blocks as Markdown and collects mentions and media. Keeps the text of unknown blocks. */
class RichReader {
  readonly mentions: Mention[] = [];
  readonly media: MediaRef[] = [];
  /** The first command in its original spelling, or an empty string. */
  firstCommand = "";
  readonly #bot: Bot;

  constructor(bot: Bot) {
    this.#bot = bot;
  }

  blocksIn(parent: Payload, level: number): string {
    if (level > MAX_LEVELS) return "";
    return together(...objectsAt(parent, "blocks").map((block) => this.#block(block, level + 1)));
  }

  #block(block: Payload, level: number): string {
    this.media.push(...readAttachments(block));
    const words = this.#words(block["text"], level);
    const { type } = block;
    switch (type) {
      case "heading":
        return `${"#".repeat(getHeadingLevel(block))} ${words}`;
      case "pre":
        return `\`\`\`${textAt(block, "language") ?? ""}\n${words}\n\`\`\``;
      case "divider":
        return "---";
      case "mathematical_expression":
        return `$$${textAt(block, "expression") ?? ""}$$`;
      case "list":
        return objectsAt(block, "items")
          .map((item) => this.#item(item, level + 1))
          .join("\n");
      case "blockquote":
      case "expandable_blockquote":
      case "pullquote":
        return indented(this.#within(block, words, level), "> ", "> ");
      case "table":
        return together(this.#words(block["caption"], level), this.#table(block, level));
      case "map":
        return together(describeSpecialContent(block), this.#caption(block, level));
      case "buttons":
        return objectsAt(block, "buttons")
          .map((button) => this.#button(button, level))
          .join(" ");
      default:
        return this.#within(block, words, level);
    }
  }

  /** Returns the text of a block, followed by its nested blocks, caption and credit. */
  #within(block: Payload, words: string, level: number): string {
    const summary = this.#words(block["summary"], level);
    const inner = this.blocksIn(block, level);
    return together(summary, words, inner, this.#caption(block, level), this.#credit(block, level));
  }

  #caption(block: Payload, level: number): string {
    const caption = objectAt(block, "caption");
    return together(this.#words(caption["text"], level), this.#credit(caption, level));
  }

  #credit(payload: Payload, level: number): string {
    const credit = this.#words(payload["credit"], level);
    return credit === "" ? "" : `— ${credit}`;
  }

  #item(item: Payload, level: number): string {
    const { value } = item;
    const mark = typeof value === "number" ? `${value}. ` : "- ";
    const box = item["has_checkbox"] === true ? `[${item["is_checked"] === true ? "x" : " "}] ` : "";
    return indented(this.blocksIn(item, level), `${mark}${box}`, " ".repeat(mark.length));
  }

  /** Markdown tables start with a header row, so the first row becomes the header. */
  #table(block: Payload, level: number): string {
    const { cells } = block;
    const rows = Array.isArray(cells) ? cells.filter((row) => Array.isArray(row)) : [];
    const [head = [], ...others] = rows.map((row) => row.map((cell) => this.#cell(cell, level)));
    return [head, head.map(() => "---"), ...others].map((row) => `| ${row.join(" | ")} |`).join("\n");
  }

  #cell(cell: unknown, level: number): string {
    const words = isPayload(cell) ? this.#words(cell["text"], level) : "";
    return words.replaceAll("\n", " ").replaceAll("|", "\\|");
  }

  #button(button: Payload, level: number): string {
    return `[${this.#words(button["text"], level)}]`;
  }

  #words(text: unknown, level: number): string {
    if (typeof text === "string") return text.toWellFormed();
    if (level > MAX_LEVELS) return "";
    if (Array.isArray(text)) return text.map((part) => this.#words(part, level + 1)).join("");
    return isPayload(text) ? this.#marked(text, level + 1) : "";
  }

  #marked(marked: Payload, level: number): string {
    const words = this.#words(marked["text"], level);
    const type = textAt(marked, "type") ?? "";
    switch (type) {
      case "url":
        return linked(words, textAt(marked, "url"));
      case "mathematical_expression":
        return `$${textAt(marked, "expression") ?? ""}$`;
      case "custom_emoji":
        return textAt(marked, "alternative_text") ?? "";
      case "button":
        return this.#button(objectAt(marked, "button"), level);
      case "mention":
        this.mentions.push(mentionName(textAt(marked, "username") ?? words, this.#bot));
        return words;
      case "text_mention":
        this.mentions.push(...mentionUser(objectAt(marked, "user"), words, this.#bot));
        return words;
      case "bot_command":
        this.firstCommand ||= words;
        return words;
      default: {
        const [before, after] = markdownMarks.get(type) ?? ["", ""];
        return `${before}${words}${after}`;
      }
    }
  }
}

function getHeadingLevel({ size }: Payload): number {
  return typeof size === "number" && size >= 1 && size <= 6 ? Math.floor(size) : 1;
}

/** Telegram also marks bare URLs as links. */
function linked(words: string, url: string | undefined): string {
  if (url === undefined || url === words) return words;
  const [before, after] = getLinkMarks(url);
  return `${before}${words}${after}`;
}

function together(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join("\n\n");
}

/** Prefixes the first line with `first` and the others with `others`. */
function indented(text: string, first: string, others: string): string {
  return text
    .split("\n")
    .map((line, at) => `${at === 0 ? first : others}${line}`.trimEnd())
    .join("\n");
}
