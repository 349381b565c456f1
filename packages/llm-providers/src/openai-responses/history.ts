import type { AssistantMessage, Message, Model, UserMessage } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { plainResult, replayArguments, resultMedia } from "../shared/content.ts";
import { objectsAt, type Raw, textAt } from "../shared/json.ts";
import { ownData } from "../shared/vendor-data.ts";
import { inputPart } from "./content.ts";

type Item = OpenAI.Responses.ResponseInputItem;
type OutputMessage = OpenAI.Responses.ResponseOutputMessage;

/** A history as input items. Items this model made go back as they came; everything else without ids. */
export function historyItems(messages: readonly Message[], model: Model): Item[] {
  const items: Item[] = [];
  for (const message of messages) {
    if (message.role === "user") items.push(userItem(message));
    else if (message.role === "assistant") items.push(...assistantItems(message, model));
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

function userItem(message: UserMessage): Item {
  if (typeof message.content === "string") return { role: "user", content: message.content };
  return { role: "user", content: message.content.map(inputPart) };
}

/**
 * The items of one turn. A reasoning item must be followed by the item it led to, and an item that carries its id
 * must follow its reasoning: a turn that was cut after its reasoning loses that, and what followed reasoning that is no
 * longer at hand goes without its id.
 */
function assistantItems(message: AssistantMessage, model: Model): Item[] {
  const items: Item[] = [];
  let open: OutputMessage | undefined;
  /** An item's id, unless the reasoning it must follow has been dropped. */
  const idOf = (data: Raw | undefined): string | undefined => {
    const after = data?.after;
    if (
      data === undefined ||
      (after !== undefined && !items.some((item) => "id" in item && item.id === after))
    )
      return;
    return textAt(data, "id");
  };
  const text = (data: Raw | undefined, part: OutputMessage["content"][number]): void => {
    const id = idOf(data);
    if (id === undefined) {
      const said = part.type === "refusal" ? part.refusal : part.text;
      if (said !== "") items.push({ role: "assistant", content: said });
      open = undefined;
      return;
    }
    if (open === undefined || open.id !== id) {
      open = { type: "message", role: "assistant", id, status: "completed", content: [] };
      const phase = data?.phase;
      if (phase === "commentary" || phase === "final_answer") open.phase = phase;
      items.push(open);
    }
    open.content.push(part);
  };
  for (const block of message.content) {
    const data = ownData(block, model);
    switch (block.type) {
      case "text":
        text(data, { type: "output_text", text: block.text, annotations: [] });
        break;
      case "citation": {
        const part = open?.content.at(-1);
        if (data !== undefined && part?.type === "output_text" && isUrlCitation(data))
          part.annotations.push(data);
        break;
      }
      case "refusal":
        text(data, { type: "refusal", refusal: block.text });
        break;
      case "toolCall": {
        open = undefined;
        const id = idOf(data);
        items.push({
          type: "function_call",
          call_id: block.id,
          name: block.name,
          arguments: replayArguments(block),
          ...(id === undefined ? {} : { id }),
        });
        break;
      }
      case "thinking":
        open = undefined;
        if (data !== undefined && isItem(data) && travels(data)) items.push(data);
        break;
      case "opaque":
        open = undefined;
        if (data !== undefined && isItem(data)) items.push(data);
        break;
      case "image":
        open = undefined;
        if (data !== undefined && block.source.kind === "base64") {
          const whole = { ...data, result: block.source.data };
          if (isItem(whole)) items.push(whole);
        }
        break;
      default:
        break;
    }
  }
  return withoutTornReasoning(items);
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
