import type { Block, BlockHead, ToolCallBlock } from "./content.ts";
import type { AgentEvent } from "./events.ts";
import { isJsonObject, type JsonObject } from "./json.ts";
import type { ModelEvent } from "./model.ts";
import { parsePartialJson } from "./partial-json.ts";

type Delta = Extract<ModelEvent, { readonly delta: string }>;

interface Open {
  readonly head: BlockHead;
  text: string;
  /** The sealed block, or the last view made of an open one. */
  view: Block | undefined;
  sealed: boolean;
}

/** More blocks than a turn has. */
const MAX_BLOCKS = 65_536;

/**
 * The model turn that is streaming, as far as it has come. Feed it the events of a model or of a run; `blocks` is made
 * when it is asked for, and only what changed since is made anew, so that a delta costs no more than its text.
 */
export class Snapshot {
  #blocks: (Open | undefined)[] = [];
  #view: readonly Block[] | undefined;

  /** Takes one event; events that are not about the streaming turn are ignored. */
  apply(event: ModelEvent | AgentEvent): void {
    // Before the others: nearly all events are deltas.
    if (event.type === "text.delta" || event.type === "thinking.delta" || event.type === "tool.delta") {
      const open = this.#blocks[event.index] ?? this.#start(event.index, headOf(event.type));
      open.text += event.delta;
      open.view = undefined;
      this.#view = undefined;
      return;
    }
    switch (event.type) {
      case "block.start":
        this.#start(event.index, event.block);
        return;
      case "block.end": {
        const open = this.#blocks[event.index] ?? this.#start(event.index, headOf("text.delta"));
        open.view = event.block;
        open.sealed = true;
        this.#view = undefined;
        return;
      }
      case "attempt":
        if (event.discard === true) this.clear();
        return;
      case "message":
        // The turn is in the history now.
        if (event.origin === "model") this.clear();
        return;
      case "turn.start":
      case "model.start":
      case "model.discard":
      case "start":
      case "turn.end":
      case "run.end":
        this.clear();
        return;
      default:
        return;
    }
  }

  /**
   * What has arrived, in order. A tool call whose arguments are still arriving has those that can be read so far. The
   * same array until something changes.
   */
  get blocks(): readonly Block[] {
    this.#view ??= this.#blocks.filter((open) => open !== undefined).flatMap(viewOf);
    return this.#view;
  }

  /** The text that has arrived. */
  get text(): string {
    let text = "";
    for (const open of this.#blocks) if (open?.head.type === "text") text += open.text;
    return text;
  }

  /** Forgets the turn. */
  clear(): void {
    if (this.#blocks.length > 0) this.#blocks = [];
    this.#view = undefined;
  }

  /** What can be kept of a turn that broke off: whole blocks, and open text. Open thinking and calls are worth nothing. */
  salvage(): Block[] {
    const kept: Block[] = [];
    for (const open of this.#blocks) {
      if (open === undefined) continue;
      if (open.sealed && open.view !== undefined) kept.push(open.view);
      else if (open.head.type === "text" && open.text !== "") kept.push({ type: "text", text: open.text });
    }
    return kept;
  }

  #start(index: number, head: BlockHead): Open {
    const open: Open = { head, text: "", view: undefined, sealed: false };
    // A stream written without types may count its blocks in any way; they are no part of what can be shown.
    if (index >= 0 && index < MAX_BLOCKS && Number.isInteger(index)) this.#blocks[index] = open;
    this.#view = undefined;
    return open;
  }
}

function headOf(type: Delta["type"]): BlockHead {
  if (type === "tool.delta") return { type: "toolCall", id: "", name: "" };
  return { type: type === "text.delta" ? "text" : "thinking" };
}

function viewOf(open: Open): Block | [] {
  if (open.view !== undefined) return open.view;
  const { head, text } = open;
  let view: Block;
  switch (head.type) {
    case "text":
    case "thinking":
    case "refusal":
    case "citation":
      view = { type: head.type, text };
      break;
    case "toolCall":
      view = callView(head, text);
      break;
    default:
      // Media and opaque blocks are nothing before they are whole.
      return [];
  }
  open.view = view;
  return view;
}

function callView(head: Extract<BlockHead, { type: "toolCall" }>, argsText: string): ToolCallBlock {
  const value = parsePartialJson(argsText);
  const args: JsonObject | undefined = isJsonObject(value) ? value : undefined;
  return { type: "toolCall", id: head.id, name: head.name, args, argsText };
}
