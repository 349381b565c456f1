import { type Block, type BlockHead, textOf } from "./content.ts";
import type { AgentEvent } from "./events.ts";
import { isJsonObject } from "./json.ts";
import type { ModelEvent } from "./model.ts";
import { parsePartialJson } from "./partial-json.ts";

interface Open {
  readonly head: BlockHead;
  text: string;
  /** The complete block, or the latest view of an incomplete one. */
  view: Block | undefined;
  sealed: boolean;
}

/** Maximum number of blocks in a turn. */
const MAX_BLOCKS = 65_536;

/**
 * The part of the current model turn that has arrived. Apply the events of a model or a run to it. `blocks` is built on
 * demand, and only changed blocks are rebuilt.
 */
export class Snapshot {
  #blocks: (Open | undefined)[] = [];
  #view: readonly Block[] | undefined;

  /** Applies one event. Ignores events that do not concern the current turn. */
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
        // The turn is now part of the history.
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
   * The blocks so far, in order. A tool call contains the arguments that can already be parsed. Returns the same array
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

  /**
   * Returns the blocks of a broken turn that can be kept: complete blocks and open text, but no open thinking or calls.
   */
  salvage(): Block[] {
    return this.#blocks.flatMap((open): Block | [] => {
      if (open?.sealed === true) return open.view ?? [];
      return open?.head.type === "text" && open.text !== "" ? { type: "text", text: open.text } : [];
    });
  }

  #start(index: number, head: BlockHead): Open {
    const open: Open = { head, text: "", view: undefined, sealed: false };
    // A stream without types may use any index. Ignore invalid ones.
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
      // Media and opaque blocks are shown only when they are complete.
      return undefined;
  }
}
