import type {
  AssistantMessage,
  InputBlock,
  Message,
  ToolCallBlock,
  UserMessage,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import { leftOut } from "../adapt/media.ts";
import {
  fileName,
  mediaUrl,
  nativeData,
  plainResult,
  replayArguments,
  resultMedia,
} from "../shared/content.ts";
import { objectsAt, type Raw, textAt } from "../shared/json.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type OutputMessage = OpenAI.Responses.ResponseOutputMessage;

/** A history as input items. Items this model made go back as they came; everything else without ids. */
export function historyItems(messages: readonly Message[]): Item[] {
  const items: Item[] = [];
  for (const message of messages) {
    if (message.role === "user") items.push(userItem(message));
    else if (message.role === "assistant") items.push(...assistantItems(message));
    else {
      const media = resultMedia(message);
      const text = plainResult(message);
      items.push({
        type: "function_call_output",
        call_id: message.toolCallId,
        output: media.length === 0 ? text : [{ type: "input_text", text }, ...media.map(inputPart)],
      });
    }
  }
  return items;
}

/** What may stand in a message of a person and in a tool's output. */
type InputPart =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/** What a person or a tool contributed, as this endpoint takes it. */
function inputPart(block: InputBlock): InputPart {
  switch (block.type) {
    case "text":
      return { type: "input_text", text: block.text };
    case "image":
      return { type: "input_image", detail: "auto", image_url: mediaUrl(block.mimeType, block.source) };
    case "file":
      return block.source.kind === "url"
        ? { type: "input_file", file_url: block.source.url }
        : {
            type: "input_file",
            filename: fileName(block.mimeType, block.name),
            file_data: mediaUrl(block.mimeType, block.source),
          };
    case "audio":
      return { type: "input_text", text: leftOut(block).text };
  }
}

function userItem(message: UserMessage): Item {
  if (typeof message.content === "string") return { role: "user", content: message.content };
  return { role: "user", content: message.content.map(inputPart) };
}

/**
 * The items of one turn. A reasoning item must be followed by the item it led to, and an item that carries its id
 * must follow its reasoning: a turn that was cut after its reasoning loses that, and what followed reasoning that is no
 * longer at hand goes without its id.
 */
function assistantItems(message: AssistantMessage): Item[] {
  const turn = new TurnItems();
  for (const block of message.content) turn.add(block, nativeData(block));
  return withoutTornReasoning(turn.items);
}

class TurnItems {
  readonly items: Item[] = [];
  /** The message that texts are added to. */
  #open: OutputMessage | undefined;

  add(block: AssistantMessage["content"][number], data: Raw | undefined): void {
    switch (block.type) {
      case "text":
        this.#text(data, { type: "output_text", text: block.text, annotations: [] });
        break;
      case "refusal":
        this.#text(data, { type: "refusal", refusal: block.text });
        break;
      case "citation":
        this.#cite(data);
        break;
      case "toolCall":
        this.#call(block, data);
        break;
      case "thinking":
        this.#whole(data !== undefined && travels(data) ? data : undefined);
        break;
      case "opaque":
        this.#whole(data);
        break;
      case "image": {
        const { source } = block;
        const isKept = data !== undefined && source.kind === "base64";
        this.#whole(isKept ? { ...data, result: source.data } : undefined);
        break;
      }
    }
  }

  #text(data: Raw | undefined, part: OutputMessage["content"][number]): void {
    const id = this.#idOf(data);
    if (id === undefined) {
      const said = part.type === "refusal" ? part.refusal : part.text;
      if (said !== "") this.items.push({ role: "assistant", content: said });
      this.#open = undefined;
      return;
    }
    if (this.#open === undefined || this.#open.id !== id) {
      this.#open = { type: "message", role: "assistant", id, status: "completed", content: [] };
      const phase = data?.phase;
      if (phase === "commentary" || phase === "final_answer") this.#open.phase = phase;
      this.items.push(this.#open);
    }
    this.#open.content.push(part);
  }

  #cite(data: Raw | undefined): void {
    const part = this.#open?.content.at(-1);
    if (data !== undefined && part?.type === "output_text" && isUrlCitation(data))
      part.annotations.push(data);
  }

  #call(block: ToolCallBlock, data: Raw | undefined): void {
    this.#open = undefined;
    const id = this.#idOf(data);
    this.items.push({
      type: "function_call",
      call_id: block.id,
      name: block.name,
      arguments: replayArguments(block),
      ...(id === undefined ? {} : { id }),
    });
  }

  /** An item that goes back as it came. */
  #whole(data: Raw | undefined): void {
    this.#open = undefined;
    if (data !== undefined && isItem(data)) this.items.push(data);
  }

  /** An item's id, unless the reasoning it must follow has been dropped. */
  #idOf(data: Raw | undefined): string | undefined {
    const after = data?.after;
    if (data === undefined) return undefined;
    if (after !== undefined && !this.items.some((item) => "id" in item && item.id === after))
      return undefined;
    return textAt(data, "id");
  }
}

function isUrlCitation(data: Raw): data is Raw & OpenAI.Responses.ResponseOutputText.URLCitation {
  return data.type === "url_citation";
}

/** Vendor data was kept byte for byte from this endpoint; its type says that it is an item. */
function isItem(data: Raw): data is Raw & Item {
  return typeof data.type === "string" && typeof data.id === "string";
}

/**
 * The vendor keeps nothing, so reasoning is sent back whole: encrypted, or readable where a server does not encrypt.
 */
function travels(reasoning: Raw): boolean {
  return textAt(reasoning, "encrypted_content") !== undefined || objectsAt(reasoning, "content").length > 0;
}

function withoutTornReasoning(items: Item[]): Item[] {
  const last = items.findLastIndex((item) => !("type" in item) || item.type !== "reasoning");
  return items.slice(0, last + 1);
}
