import { type Block, type BlockHead, textOf } from "./content.ts";
import type { AgentEvent } from "./events.ts";
import { isJsonObject } from "./json.ts";
import type { ModelEvent } from "./model.ts";
import { parsePartialJson } from "./partial-json.ts";

interface Open {
  readonly head: BlockHead;
  text: string;
  /** The complete block, or the last view of an incomplete one. */
  view: Block | undefined;
  sealed: boolean;
}

/** No turn has more blocks. */
const MAX_BLOCKS = 65_536;

/**
 * The current model turn, as far as it has arrived. Feed it the events of a model or a run. `blocks` is built on demand
 * and only rebuilds changed blocks.
 */
export class Snapshot {
  #blocks: (Open | undefined)[] = [];
  #view: readonly Block[] | undefined;

  /** Applies one event. Events that do not concern the current turn are ignored. */
  apply(event: ModelEvent | AgentEvent): void {
    switch (event.type) {
      case "text.delta":
      case "thinking.delta":
      case "tool.delta": {
        const open = this.#blocks[event.index] ?? this.#start(event.index, getHead(event.type));
        open.text += event.delta;
        open.view = undefined;
        break;
      }
      case "block.start":
        this.#start(event.index, event.block);
        break;
      case "block.end": {
        const open = this.#blocks[event.index] ?? this.#start(event.index, getHead("text.delta"));
        open.view = event.block;
        open.sealed = true;
        break;
      }
      case "attempt":
        if (event.discard === true) this.clear();
        break;
      case "message":
        // The turn is part of the history now.
        if (event.origin === "model") this.clear();
        break;
      case "turn.start":
      case "model.start":
      case "model.discard":
      case "start":
      case "turn.end":
      case "run.end":
        this.clear();
        break;
      default:
        return;
    }
    this.#view = undefined;
  }

  /**
   * The blocks so far, in order. A tool call contains the arguments that can be parsed so far. Returns the same array
   * until something changes.
   */
  get blocks(): readonly Block[] {
    this.#view ??= this.#blocks.flatMap((open) => {
      if (open !== undefined) open.view ??= partial(open);
      return open?.view ?? [];
    });
    return this.#view;
  }

  get text(): string {
    return textOf(this.blocks);
  }

  /** Clears the turn. */
  clear(): void {
    this.#blocks = [];
    this.#view = undefined;
  }

  /** Returns what can be kept of a broken turn: complete blocks and open text, but no open thinking or calls. */
  salvage(): Block[] {
    return this.#blocks.flatMap((open): Block | [] => {
      if (open?.sealed === true) return open.view ?? [];
      return open?.head.type === "text" && open.text !== "" ? { type: "text", text: open.text } : [];
    });
  }

  #start(index: number, head: BlockHead): Open {
    const open: Open = { head, text: "", view: undefined, sealed: false };
    // An untyped stream may use any index. Invalid ones are not shown.
    if (index >= 0 && index < MAX_BLOCKS && Number.isInteger(index)) this.#blocks[index] = open;
    return open;
  }
}

function getHead(type: "text.delta" | "thinking.delta" | "tool.delta"): BlockHead {
  if (type === "tool.delta") return { type: "toolCall", id: "", name: "" };
  return { type: type === "text.delta" ? "text" : "thinking" };
}

function partial({ head, text }: Open): Block | undefined {
  switch (head.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      return { type: head.type, text };
    case "toolCall": {
      const value = parsePartialJson(text);
      return { ...head, args: isJsonObject(value) ? value : undefined, argsText: text };
    }
    default:
      // Media and opaque blocks are only shown once they are complete.
      return undefined;
  }
}
