import type { Anthropic } from "@anthropic-ai/sdk";
import type {
  AssistantMessage,
  Block,
  FileBlock,
  InputBlock,
  Message,
  ToolResultMessage,
} from "@signalbox/agent-core";
import { ANTHROPIC_IMAGES, describeOmitted, isTextFile } from "../adapt/media.ts";
import { isVendorData, nativeData } from "../shared/content.ts";
import type { AnthropicQuirks } from "./quirks.ts";

type InputParam = Anthropic.TextBlockParam | Anthropic.ImageBlockParam | Anthropic.DocumentBlockParam;

/** A message with its content as blocks. */
export interface WireMessage {
  readonly role: "user" | "assistant";
  readonly content: Anthropic.ContentBlockParam[];
}

/** Converts a history into the vendor's messages. All results of a turn go into one message. */
export function historyMessages(messages: readonly Message[], quirks: AnthropicQuirks): WireMessage[] {
  const out: WireMessage[] = [];
  for (const [at, message] of messages.entries()) {
    const content = blocksOf(message, quirks);
    const isFurtherResult = message.role === "toolResult" && messages[at - 1]?.role === "toolResult";
    if (isFurtherResult) out.at(-1)?.content.push(...content);
    else if (content.length > 0)
      out.push({ role: message.role === "assistant" ? "assistant" : "user", content });
  }
  return out;
}

function blocksOf(message: Message, quirks: AnthropicQuirks): Anthropic.ContentBlockParam[] {
  if (message.role === "assistant") return assistantParams(message, quirks);
  return message.role === "user" ? inputParams(message.content) : [resultParam(message)];
}

function textParam(text: string): Anthropic.TextBlockParam {
  return { type: "text", text };
}

function inputParams(content: string | readonly InputBlock[]): InputParam[] {
  return typeof content === "string" ? [textParam(content)] : content.map(inputParam);
}

function inputParam(block: InputBlock): InputParam {
  if (block.type === "text") return textParam(block.text);
  if (block.type === "file") return fileParam(block);
  const { type, source, mimeType } = block;
  if (type === "audio") return describeOmitted(block);
  if (source.kind === "url") return { type, source: { type: "url", url: source.url } };
  const media_type = ANTHROPIC_IMAGES.find((image) => image === mimeType);
  if (media_type === undefined) return describeOmitted(block);
  return { type, source: { type: "base64", media_type, data: source.data } };
}

function fileParam(block: FileBlock): InputParam {
  const { source, mimeType, name } = block;
  const document = { type: "document", title: name } as const;
  if (mimeType === "application/pdf")
    return source.kind === "url"
      ? { ...document, source: { type: "url", url: source.url } }
      : { ...document, source: { type: "base64", media_type: mimeType, data: source.data } };
  if (source.kind === "url" || !isTextFile(mimeType)) return describeOmitted(block);
  const data = Buffer.from(source.data, "base64").toString("utf8");
  if (data.trim() === "") return textParam(`[file ${name ?? ""} is empty]`);
  return { ...document, source: { type: "text", media_type: "text/plain", data } };
}

/** Converts one tool result. The API requires text in an error result. */
function resultParam(message: ToolResultMessage): Anthropic.ToolResultBlockParam {
  const content = inputParams(message.content);
  if (content.length === 0 && message.isError) content.push(textParam("(no output)"));
  return {
    type: "tool_result",
    tool_use_id: message.toolCallId,
    content: content.length > 0 ? content : undefined,
    is_error: message.isError ? true : undefined,
  };
}

/** Converts a turn of the model. The result is empty if nothing can be sent back. */
function assistantParams(message: AssistantMessage, quirks: AnthropicQuirks): Anthropic.ContentBlockParam[] {
  const params: Anthropic.ContentBlockParam[] = [];
  /** The text block that the next citations belong to. */
  let cited: Anthropic.TextBlockParam | undefined;
  for (const block of message.content) {
    if (block.type === "citation") {
      const data = nativeData(block);
      if (cited !== undefined && isVendorData<Anthropic.TextCitationParam>(data))
        cited.citations = [...(cited.citations ?? []), data];
      continue;
    }
    const param = assistantParam(block, quirks);
    cited = block.type === "text" && param?.type === "text" ? param : undefined;
    if (param !== undefined) params.push(param);
  }
  // The API rejects a turn that contains only thinking.
  return params.every(({ type }) => type === "thinking" || type === "redacted_thinking") ? [] : params;
}

function assistantParam(block: Block, quirks: AnthropicQuirks): Anthropic.ContentBlockParam | undefined {
  const data = nativeData(block);
  switch (block.type) {
    case "text":
      // `repairHistory` has removed the blank texts that the API rejects. It accepts whitespace between other texts.
      return block.text === "" ? undefined : textParam(block.text);
    case "refusal":
      return block.text.trim() === "" ? undefined : textParam(block.text);
    case "thinking":
      if (typeof data?.redacted === "string") return { type: "redacted_thinking", data: data.redacted };
      if (typeof data?.signature === "string")
        return { type: "thinking", thinking: block.text, signature: data.signature };
      return quirks.unsignedThinking ? { type: "thinking", thinking: block.text, signature: "" } : undefined;
    case "toolCall": {
      // The API accepts only objects. Its documentation uses this key for malformed input.
      const input = block.args ?? { INVALID_JSON: block.argsText };
      return { type: "tool_use", id: block.id, name: block.name, input };
    }
    case "opaque":
      return isVendorData<Anthropic.ContentBlockParam>(data) ? data : undefined;
    default:
      return undefined;
  }
}
