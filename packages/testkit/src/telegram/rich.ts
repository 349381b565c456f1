import { isRaw, type Raw } from "../raw.ts";
import { type ApiReply, badRequest } from "./reply.ts";

/** Source: "Rich Message Limits" of the reference. */
const limits = { characters: 32_768, blocks: 500, depth: 16, columns: 20 };

/** Marks that contain other text. */
const markTypes = new Set(["bold", "italic", "underline", "strikethrough", "spoiler", "code", "url"]);

/** Refuses a message because of its blocks. */
class Refused extends Error {}

/** Parses a rich message of blocks, or returns Telegram's refusal. */
export function readRich(
  message: unknown,
): { readonly blocks: readonly Raw[]; readonly text: string } | ApiReply {
  const blocks = isRaw(message) ? message["blocks"] : undefined;
  if (!Array.isArray(blocks)) return badRequest("the fake server reads rich messages of blocks alone");
  const reader = new RichReader();
  try {
    const text = reader.blocks(blocks, 1);
    return { blocks: blocks.filter(isRaw), text };
  } catch (error) {
    if (error instanceof Refused) return badRequest(error.message);
    throw error;
  }
}

/** Collects the text of blocks, and refuses those that violate the API's types and limits. */
class RichReader {
  #count = 0;
  #characters = 0;

  blocks(blocks: unknown, depth: number): string {
    if (!Array.isArray(blocks) || blocks.length === 0) throw new Refused("rich message has an empty block");
    return blocks.map((block) => this.#block(block, depth)).join("\n");
  }

  #block(block: unknown, depth: number): string {
    if (!isRaw(block)) throw new Refused("can't parse InputRichBlock");
    this.#enter(depth);
    const { type, text, size } = block;
    switch (type) {
      case "paragraph":
      case "pre":
        return this.#said(text, depth);
      case "heading":
        if (![1, 2, 3, 4, 5, 6].includes(Number(size))) throw new Refused("heading size must be 1-6");
        return this.#said(text, depth);
      case "mathematical_expression":
        return this.#said(block["expression"], depth);
      case "blockquote":
        return this.blocks(block["blocks"], depth + 1);
      case "list":
        return this.#list(block["items"], depth + 1);
      case "table":
        return this.#table(block["cells"], depth + 1);
      case "divider":
        return "";
      default:
        throw new Refused(`unknown rich block ${String(type)}`);
    }
  }

  #list(items: unknown, depth: number): string {
    if (!Array.isArray(items) || items.length === 0) throw new Refused("list must be non-empty");
    return items
      .map((item) => {
        this.#enter(depth);
        return this.blocks(isRaw(item) ? item["blocks"] : undefined, depth + 1);
      })
      .join("\n");
  }

  #table(rows: unknown, depth: number): string {
    if (!Array.isArray(rows) || rows.length === 0) throw new Refused("table must be non-empty");
    return rows.map((row) => this.#row(row, depth)).join("\n");
  }

  #row(row: unknown, depth: number): string {
    this.#enter(depth);
    if (!Array.isArray(row) || row.length > limits.columns) throw new Refused("table has too many columns");
    return row
      .map((cell) => {
        const { align, valign, text } = isRaw(cell) ? cell : {};
        if (!["left", "center", "right"].includes(String(align))) throw new Refused("cell without align");
        if (!["top", "middle", "bottom"].includes(String(valign))) throw new Refused("cell without valign");
        return text === undefined ? "" : this.#said(text, depth);
      })
      .join(" ");
  }

  /** Returns text that is not empty. */
  #said(text: unknown, depth: number): string {
    const words = this.#words(text, depth + 1);
    if (words.trim() === "") throw new Refused("rich text must be non-empty");
    return words;
  }

  #words(text: unknown, depth: number): string {
    if (depth > limits.depth) throw new Refused("rich message is nested too deep");
    if (typeof text === "string") return this.#counted(text);
    if (Array.isArray(text)) return text.map((part) => this.#words(part, depth)).join("");
    if (!isRaw(text)) throw new Refused("can't parse RichText");
    const { type, url } = text;
    if (type === "mathematical_expression") return this.#said(text["expression"], depth - 1);
    if (!markTypes.has(String(type))) throw new Refused(`unknown rich text ${String(type)}`);
    if (type === "url" && !URL.canParse(String(url))) throw new Refused("RICH_URL_INVALID");
    return this.#said(text["text"], depth);
  }

  #counted(words: string): string {
    if (!words.isWellFormed()) throw new Refused("strings must be encoded in UTF-8");
    this.#characters += [...words].length;
    if (this.#characters > limits.characters) throw new Refused("rich message is too long");
    return words;
  }

  #enter(depth: number): void {
    this.#count += 1;
    if (this.#count > limits.blocks) throw new Refused("rich message has too many blocks");
    if (depth > limits.depth) throw new Refused("rich message is nested too deep");
  }
}
