import {
  type AssistantMessage,
  type Block,
  type InputBlock,
  type Message,
  type Model,
  toWellFormed,
} from "@signalbox/agent-core";
import { isMadeBy } from "../shared/native.ts";
import { callIdFor } from "./ids.ts";
import type { Loss } from "./losses.ts";
import { leftOut, type Media, takesInput, takesOutput } from "./media.ts";
import { toolNameFor } from "./names.ts";

export interface AdaptOptions {
  /** What becomes of thinking by another model: `drop` (default) or `text`, between `<thinking>` tags. */
  readonly foreignThinking?: "drop" | "text";
}

/** A loss before its place in the history is known. */
type PlacelessLoss = Omit<Loss, "message">;

/** One message for a target. `message` is absent where nothing is left of it. */
export interface Converted {
  readonly message: Message | undefined;
  readonly losses: readonly PlacelessLoss[];
}

const NOTHING: readonly PlacelessLoss[] = [];

const CANNOT: Readonly<Record<Media["type"], string>> = {
  image: "this model cannot see images",
  audio: "this model cannot hear audio",
  file: "this model cannot read files",
};

/** One message as `target` can take it; a pure function of its arguments. */
class Converter {
  readonly #target: Model;
  readonly #options: AdaptOptions;
  readonly losses: PlacelessLoss[] = [];

  constructor(target: Model, options: AdaptOptions) {
    this.#target = target;
    this.#options = options;
  }

  #lose(kind: Loss["kind"], detail: string): void {
    this.losses.push({ kind, detail });
  }

  /** Blocks with media described where the model, or its API, cannot take them; the same array where they can. */
  input(blocks: readonly InputBlock[]): readonly InputBlock[] {
    const { api, input } = this.#target;
    let changed = false;
    const made = blocks.map((block) => {
      if (block.type === "text") return block;
      const known = input.includes(block.type);
      if (known && takesInput(api, block)) return block;
      changed = true;
      this.#lose("media", `${block.type} ${block.mimeType}`);
      return known ? leftOut(block) : leftOut(block, CANNOT[block.type]);
    });
    return changed ? made : blocks;
  }

  id(id: string): string {
    const made = callIdFor(this.#target.api, id);
    if (made !== id) this.#lose("call-id", id);
    return made;
  }

  /** No loss: a tool's own name is put back where the model calls it. */
  name(name: string): string {
    return toolNameFor(this.#target.api, name);
  }

  assistant(message: AssistantMessage): AssistantMessage | undefined {
    const own = isMadeBy(message, this.#target);
    let changed = false;
    const content: Block[] = [];
    for (const block of message.content) {
      const made = this.#block(block, own);
      if (made !== block) changed = true;
      if (made !== undefined) content.push(made);
    }
    if (content.length === 0) {
      this.#lose("empty", `${message.stopReason} message without content`);
      return undefined;
    }
    return changed ? { ...message, content } : message;
  }

  #block(block: Block, ownMessage: boolean): Block | undefined {
    const own = block.native === undefined ? ownMessage : isMadeBy(block.native, this.#target);
    switch (block.type) {
      case "text":
        return this.#bare(block, own);
      case "thinking": {
        if (own) return block;
        const { text } = block;
        if (this.#options.foreignThinking === "text" && text.trim() !== "") {
          this.#lose("thinking", "turned into text");
          return { type: "text", text: `<thinking>\n${text}\n</thinking>` };
        }
        this.#lose("thinking", block.redacted === true ? "redacted, dropped" : "dropped");
        return undefined;
      }
      case "toolCall": {
        const id = this.id(block.id);
        const name = this.name(block.name);
        const bare = this.#bare(block, own);
        return id === block.id && name === block.name ? bare : { ...bare, id, name };
      }
      case "refusal":
        if (own) return block;
        this.#lose("refusal", "turned into text");
        return { type: "text", text: block.text };
      case "citation":
        // Kept by adapters where the vendor takes it back.
        if (own && block.native !== undefined) return block;
        this.#lose("citation", block.url ?? block.title ?? "");
        return undefined;
      case "opaque":
        if (own) return block;
        this.#lose("opaque", `made by ${block.native.provider}/${block.native.model}`);
        return undefined;
      case "image":
      case "audio":
      case "file": {
        const { api, input } = this.#target;
        const known = input.includes(block.type);
        if (own && known && takesOutput(api, block)) return block;
        this.#lose("media", `${block.type} ${block.mimeType} made by a model`);
        return known ? leftOut(block) : leftOut(block, CANNOT[block.type]);
      }
    }
  }

  /** The block without what only its own vendor understands. */
  #bare<B extends Block>(block: B, own: boolean): B {
    if (own || block.native === undefined) return block;
    this.#lose("native", `${block.type} made by ${block.native.provider}/${block.native.model}`);
    const { native: _, ...rest } = block;
    // The rest of a block without an optional field is a block of the same type, which the compiler cannot see.
    return rest as B;
  }
}

/** Converts one message. */
export function convertMessage(message: Message, target: Model, options: AdaptOptions): Converted {
  const converter = new Converter(target, options);
  const made = convertWith(converter, toWellFormed(message));
  return { message: made, losses: converter.losses.length === 0 ? NOTHING : converter.losses };
}

function convertWith(converter: Converter, message: Message): Message | undefined {
  switch (message.role) {
    case "user": {
      if (typeof message.content === "string") return message;
      const content = converter.input(message.content);
      return content === message.content ? message : { ...message, content };
    }
    case "toolResult": {
      const content = converter.input(message.content);
      const toolCallId = converter.id(message.toolCallId);
      const toolName = converter.name(message.toolName);
      return content === message.content && toolCallId === message.toolCallId && toolName === message.toolName
        ? message
        : { ...message, content, toolCallId, toolName };
    }
    case "assistant":
      return converter.assistant(message);
  }
}
