import {
  type AssistantMessage,
  type Block,
  type InputBlock,
  type Message,
  type Model,
  type Native,
  toWellFormed,
  withContent,
} from "@signalbox/agent-core";
import type { Loss } from "../shared/warnings.ts";
import { describeOmitted, replaceMedia } from "./media.ts";
import { callIdFor, toolNameFor } from "./names.ts";

export interface AdaptOptions {
  /** Conversion of thinking from another model: `drop` it (default), or send it as `text` between `<thinking>` tags. */
  readonly foreignThinking?: "drop" | "text";
}

export interface ConvertOptions extends AdaptOptions {
  /** True if the history has more than a few images. Default: false. */
  readonly showsMany?: boolean;
}

/** A converted message. `message` is absent if nothing remains of it. */
export interface Converted {
  readonly message: Message | undefined;
  readonly lost: readonly Omit<Loss, "message">[];
  /** The number of images in the original message. */
  readonly pictures: number;
}

/** Converts one message. Pure; a message that needs no change is returned as is. */
export function convertMessage(message: Message, target: Model, options: ConvertOptions): Converted {
  const converter = new Converter(target, options);
  const blocks: readonly Block[] = typeof message.content === "string" ? [] : message.content;
  const pictures = blocks.filter(({ type }) => type === "image").length;
  return { message: converter.message(toWellFormed(message)), lost: converter.lost, pictures };
}

function isMadeBy(origin: Omit<Native, "data">, { api, provider, id }: Model): boolean {
  return origin.model === id && origin.provider === provider && origin.api === api;
}

/** Returns the object with the changed fields, or the same object if they are equal. */
function changed<T extends object>(before: T, fields: Partial<T>): T {
  for (const name in fields) if (before[name] !== fields[name]) return { ...before, ...fields };
  return before;
}

class Converter {
  readonly #target: Model;
  readonly #options: ConvertOptions;
  readonly lost: Omit<Loss, "message">[] = [];

  constructor(target: Model, options: ConvertOptions) {
    this.#target = target;
    this.#options = options;
  }

  message(message: Message): Message | undefined {
    switch (message.role) {
      case "user":
        if (typeof message.content === "string") return message;
        return withContent(message, this.#input(message.content));
      case "toolResult":
        return changed(withContent(message, this.#input(message.content)), {
          toolCallId: this.#id(message.toolCallId),
          toolName: toolNameFor(this.#target.api, message.toolName),
        });
      case "assistant":
        return this.#assistant(message);
    }
  }

  #lose(kind: Loss["kind"], detail: string): void {
    this.lost.push({ kind, detail });
  }

  /** Replaces media that cannot be sent, and drops blank texts, because vendors reject them. */
  #input(blocks: readonly InputBlock[]): readonly InputBlock[] {
    return blocks.flatMap((block) => {
      if (block.type === "text") return block.text.trim() === "" ? [] : [block];
      const fakeServer = replaceMedia(block, this.#target, "input", this.#options.showsMany);
      if (fakeServer !== undefined) this.#lose("media", `${block.type} ${block.mimeType}`);
      return fakeServer ?? block;
    });
  }

  #id(id: string): string {
    const made = callIdFor(this.#target.api, id);
    if (made !== id) this.#lose("call_id", id);
    return made;
  }

  #assistant(message: AssistantMessage): AssistantMessage | undefined {
    const own = isMadeBy(message, this.#target);
    const content = message.content.flatMap((block) => this.#block(block, own) ?? []);
    if (content.length > 0) return withContent(message, content);
    this.#lose("empty", `${message.stopReason} message without content`);
    return undefined;
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
        const id = this.#id(block.id);
        // Not a loss, because the tool's own name is restored when the model calls it.
        const name = toolNameFor(this.#target.api, block.name);
        return changed(this.#bare(block, own), { id, name });
      }
      case "refusal":
        if (own) return block;
        this.#lose("refusal", "turned into text");
        return { type: "text", text: block.text };
      case "citation":
        // Adapters set `native` only for citations that the vendor accepts back.
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
        const fakeServer = replaceMedia(block, this.#target, "output");
        if (own && fakeServer === undefined) return block;
        this.#lose("media", `${block.type} ${block.mimeType} made by a model`);
        return fakeServer ?? describeOmitted(block);
      }
    }
  }

  /** Removes vendor-specific data unless the block goes back to its own vendor. */
  #bare<B extends Block>(block: B, own: boolean): B {
    if (own || block.native === undefined) return block;
    this.#lose("native", `${block.type} made by ${block.native.provider}/${block.native.model}`);
    const { native: _, ...rest } = block;
    // Removing an optional field does not change the type, but the compiler cannot infer that.
    return rest as B;
  }
}
