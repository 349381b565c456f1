import { randomUUID } from "node:crypto";
import {
  type AssistantMessage,
  addUsage,
  type Block,
  type BlockHead,
  estimateRequest,
  estimateTokens,
  getStopReason,
  type JsonValue,
  type Model,
  type ModelContext,
  type ModelEvent,
  type Native,
  type StopReason,
  type ToolCallBlock,
  textOf,
  toWellFormed,
  type Usage,
  type Warning,
} from "@signalbox/agent-core";
import { renameKeys } from "../adapt/schema.ts";
import { pricesFor, reportedUsage, type TokenCounts } from "../cost.ts";
import { type Failure, failure } from "../failure/failure.ts";
import { digestId } from "../shared/digest.ts";
import { withoutUndefined } from "../shared/json.ts";
import { CodeFence } from "./code-fence.ts";
import { type OpenBlock, seal } from "./seal.ts";

export interface RecordSetup {
  readonly model: Model;
  /** The request. Used to estimate its tokens if the vendor reports none. */
  readonly context?: ModelContext | undefined;
  /** Returns the current time in milliseconds since the epoch. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** The tools' original names by wire name, if they differ. */
  readonly names?: ReadonlyMap<string, string> | undefined;
  /** The original names of tools' properties by wire name, by the tool's original name. */
  readonly properties?: ReadonlyMap<string, ReadonlyMap<string, string>> | undefined;
}

function deltaOf({ type }: BlockHead): "text.delta" | "thinking.delta" | "tool.delta" {
  return type === "toolCall" ? "tool.delta" : type === "thinking" ? "thinking.delta" : "text.delta";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const HIGH_HALF = /[\ud800-\udbff]$/;
/** Namespaces of Gemini, Kimi and gpt-oss. */
const NAMESPACE = /^(?:default_api|functions|tools)[.:]/;

/** The methods with which a provider writes a turn. Calls after the terminal event are ignored. */
export type TurnWriter = Omit<TurnRecord, "finished" | "isDrained" | "next" | "leave">;

/** Records a turn as events and as the resulting message. */
export class TurnRecord {
  /** Aborts when the caller aborts or stops reading, or when the vendor is silent for too long. */
  readonly signal: AbortSignal;
  readonly #setup: RecordSetup;
  readonly #warnings: Warning[] = [];
  readonly #content: Block[] = [];
  readonly #open: (OpenBlock | undefined)[] = [];
  readonly #events: ModelEvent[] = [];
  #started = false;
  #ended = false;
  #finished = false;
  #emitted = false;
  #expectsJson = false;
  #usage: Usage | undefined;
  /** The text since the vendor last reported usage. */
  #uncounted = "";
  #responseId: string | undefined;

  constructor(setup: RecordSetup, signal: AbortSignal) {
    this.#setup = setup;
    this.signal = signal;
  }

  /** True if a terminal event has been written. */
  get ended(): boolean {
    return this.#ended;
  }

  /** True if the turn ended with `finish`. */
  get finished(): boolean {
    return this.#finished;
  }

  /** True if all events have been read. */
  get isDrained(): boolean {
    return this.#events.length === 0;
  }

  /** Returns the next unread event. */
  next(): ModelEvent | undefined {
    return this.#events.shift();
  }

  /** Ends the turn without an event after the consumer has stopped reading. */
  leave(): void {
    this.#ended = true;
    this.#events.length = 0;
  }

  /**
   * Requires the answer to be JSON, for vendors that have no option for it. A code fence around it is removed, and
   * prose fails the turn.
   */
  expectJson(): void {
    this.#expectsJson = true;
  }

  /** Adds a warning to the `start` event, but only once. */
  warn(code: string, message: string): void {
    if (this.#warnings.some((known) => known.code === code && known.message === message)) return;
    this.#warnings.push({ code, message });
  }

  /** Writes the `start` event, because the vendor has accepted the request. Only the first call has an effect. */
  start(requestId?: string | null): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    const { api, provider, id } = this.#setup.model;
    const request = { api, provider, model: id, requestId: requestId || undefined };
    this.#events.push({ type: "start", request, warnings: this.#warnings });
  }

  /** Sets the vendor's id of the response. Only the first call has an effect. */
  responseId(id: string | undefined): void {
    this.#responseId ??= id;
  }

  /**
   * Returns an id for a call that arrived without one. The id is derived from the response id, if there is one, and the
   * position.
   */
  callId(place: number): string {
    const seed = this.#responseId === undefined ? randomUUID() : `${this.#responseId}:${place}`;
    return `call_${digestId(seed, 24)}`;
  }

  /** Opens a block and returns its index. Several blocks may be open at once. */
  open(head: BlockHead): number {
    const index = this.#open.length;
    if (this.#ended) return index;
    this.start();
    const block =
      head.type === "toolCall" ? { type: head.type, id: head.id, name: this.#ownName(head) } : head;
    const fence = this.#expectsJson && head.type === "text" ? new CodeFence() : undefined;
    this.#open.push({ head: block, text: "", half: "", fence });
    this.#events.push({ type: "block.start", index, block });
    return index;
  }

  /** Returns the tool's own name. Some models put the namespace of their training before it, or a number behind it. */
  #ownName({ name }: { readonly name: string }): string {
    const { names, context } = this.#setup;
    const find = (wire: string): string | undefined =>
      names?.get(wire) ?? context?.tools.find((tool) => tool.name === wire)?.name;
    const bare = name.replace(NAMESPACE, "").replace(/:\d+$/, "");
    return find(name) ?? find(bare) ?? name.toWellFormed();
  }

  /** Appends to an open block: text, or the JSON text of a call's arguments. */
  append(index: number, delta: string): void {
    const block = this.#open[index];
    // The data is untyped, because a provider may pass on anything.
    if (block === undefined || this.#ended || delta === "" || typeof delta !== "string") return;
    this.#append(block, index, block.fence === undefined ? delta : block.fence.push(delta));
  }

  #append(block: OpenBlock, index: number, delta: string): void {
    if (delta === "") return;
    let text = delta;
    if (block.half !== "" || !text.isWellFormed()) {
      text = block.half + text;
      // A vendor may split a surrogate pair. The first half waits for the second.
      block.half = HIGH_HALF.exec(text)?.[0] ?? "";
      text = text.slice(0, text.length - block.half.length).toWellFormed();
      if (text === "") return;
    }
    block.text += text;
    this.#uncounted += text;
    const type = deltaOf(block.head);
    if (type !== "tool.delta") this.#emitted = true;
    const last = this.#events.at(-1);
    const isMore = last !== undefined && "delta" in last && last.index === index;
    // Deltas that arrive together are merged into one event.
    if (isMore) this.#events.pop();
    this.#events.push({ type, index, delta: isMore ? last.delta + text : text });
  }

  /**
   * Closes a block. Ignores a block that is not open.
   *
   * @param data the data that the vendor requires back with the block
   */
  close(index: number, data?: JsonValue): void {
    this.#close(index, data === undefined ? undefined : this.native(data), true);
  }

  #close(index: number, native: Native | undefined, complete: boolean): void {
    const open = this.#open[index];
    if (open === undefined || this.#ended) return;
    if (open.fence !== undefined) this.#append(open, index, open.fence.end());
    if (open.half !== "") {
      open.half = "";
      this.#append(open, index, "\ufffd");
    }
    const block = seal(open, native, complete);
    this.seal(index, block.type === "toolCall" ? this.#withOwnProperties(block) : block);
  }

  #withOwnProperties(call: ToolCallBlock): ToolCallBlock {
    const names = this.#setup.properties?.get(call.name);
    return names === undefined || call.args === undefined
      ? call
      : { ...call, args: renameKeys(call.args, names) };
  }

  /** Closes an open block as text or thinking, whichever it turned out to be. */
  closeAs(index: number, type: "text" | "thinking", data?: JsonValue): void {
    const open = this.#open[index];
    if (open === undefined || this.#ended) return;
    this.#open[index] = { ...open, head: { type } };
    this.close(index, data);
  }

  /** Replaces an open block with the given one and closes it. */
  seal(index: number, block: Block): void {
    if (this.#open[index] === undefined || this.#ended) return;
    this.#open[index] = undefined;
    this.#content[index] = block;
    this.#events.push({ type: "block.end", index, block });
  }

  /** Writes a block that arrives complete. */
  block(block: Block): void {
    const isCall = block.type === "toolCall";
    const index = this.open(isCall ? block : { type: block.type });
    this.seal(index, isCall ? { ...block, name: this.#ownName(block) } : block);
  }

  /** Returns native data for a block, marked as data of this model. The vendor requires it back. */
  native(data: JsonValue): Native {
    const { api, provider, id } = this.#setup.model;
    return { api, provider, model: id, data: toWellFormed(data) };
  }

  /** Reports the usage so far. The message contains the last one. */
  usage(usage: Usage): void {
    if (this.#ended) return;
    this.#usage = usage;
    this.#uncounted = "";
    this.#events.push({ type: "usage", usage });
  }

  /** Reports the vendor's token counts, with the cost at the model's prices. */
  tokens(counts: TokenCounts): void {
    const { input, cacheRead = 0, cacheWrite = 0 } = counts;
    const rest = input === undefined ? undefined : Math.max(0, input - cacheRead - cacheWrite);
    this.usage(
      reportedUsage({ uncached: rest, ...withoutUndefined(counts) }, pricesFor(this.#setup.model, input)),
    );
  }

  /**
   * Estimates the usage of the output since the vendor's last report, and of the request if the vendor never reported
   * any.
   */
  estimate(): void {
    const { model, context } = this.#setup;
    const input = this.#usage?.input.total ?? (context && estimateRequest(context));
    const prices = pricesFor(model, input);
    const counted = this.#usage ?? reportedUsage({ input }, prices);
    const since = reportedUsage({ output: estimateTokens(this.#uncounted) }, prices);
    this.usage({ ...addUsage(counted, since), source: "estimated" });
  }

  /** Finishes the turn. Closes open blocks first. Only the first terminal call has an effect. */
  finish(stopReason: StopReason, raw?: string): void {
    if (this.#ended) return;
    this.start();
    this.#sealAll(stopReason !== "max_tokens");
    if (this.#expectsJson && stopReason === "end_turn" && !isJson(textOf(this.#content))) {
      this.fail(failure("protocol", "JSON was requested, but the model answered in prose."));
      return;
    }
    // Some servers report `tool_use` without a call. No result would ever follow.
    const idle = stopReason === "tool_use" && !this.#content.some((block) => block.type === "toolCall");
    const message = this.#message(idle ? "end_turn" : stopReason);
    this.#events.push({
      type: "finish",
      message: { ...message, ...withoutUndefined({ rawStopReason: raw }) },
    });
    this.#ended = true;
    this.#finished = true;
  }

  /** Ends the turn with a failure. Closes open blocks first. */
  fail(cause: Failure, stopReason: StopReason = getStopReason(cause.code)): void {
    if (this.#ended) return;
    this.start();
    this.#sealAll(false);
    const { context } = this.#setup;
    // Until the end of an answer, vendors report at most the input.
    if (this.#uncounted !== "" && (this.#usage ?? context) !== undefined) this.estimate();
    const error = { ...cause, emitted: this.#emitted };
    this.#events.push({ type: "error", error, partial: { ...this.#message(stopReason), error } });
    this.#ended = true;
  }

  #sealAll(complete: boolean): void {
    for (let index = 0; index < this.#open.length; index++) this.#close(index, undefined, complete);
  }

  #message(stopReason: StopReason): AssistantMessage {
    const { model, now = Date.now } = this.#setup;
    return {
      role: "assistant",
      content: this.#content,
      api: model.api,
      provider: model.provider,
      model: model.id,
      stopReason,
      ...withoutUndefined({ usage: this.#usage, responseId: this.#responseId }),
      timestamp: now(),
    };
  }
}
