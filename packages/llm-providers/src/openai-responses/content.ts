import type { InputBlock } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { leftOut } from "../adapt/media.ts";
import { fileName, mediaUrl } from "../shared/content.ts";

/** What may stand in a message of a person and in a tool's output. */
export type InputPart =
  | OpenAI.Responses.ResponseInputText
  | OpenAI.Responses.ResponseInputImage
  | OpenAI.Responses.ResponseInputFile;

/** What a person or a tool contributed, as this endpoint takes it. */
export function inputPart(block: InputBlock): InputPart {
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
