import type { Block, BlockHead, JsonObject, Model, StopReason } from "@signalbox/agent-core";
import { reportedUsage } from "../cost.ts";
import { bodyFailure } from "../openai/failure.ts";
import { keepJson, nativeOf } from "../shared/native.ts";
import { isRaw, numberAt, objectAt, objectsAt, type Raw, textAt } from "../shared/raw.ts";
import { failure } from "../stream/errors.ts";
import type { TurnWriter } from "../stream/turn.ts";

/** What is known of one output item while it streams. */
interface Item {
  readonly type: string;
  readonly raw: Raw;
  /** Open blocks by content index; reasoning and calls have one, at 0. */
  readonly blocks: Map<number, number>;
  /** Whether argument text was streamed. */
  args: boolean;
  /** The summary part being streamed. */
  part: number;
  readonly citations: Raw[];
  text: string;
}

/** Turns the events of `/v1/responses` into a turn. */
export class ResponsesReader {
  readonly #turn: TurnWriter;
  readonly #model: Model;
  readonly #items = new Map<number, Item>();
  readonly #done = new Set<number>();
  #reasoningId: string | undefined;
  #calls = false;
  #refused = false;

  constructor(turn: TurnWriter, model: Model) {
    this.#turn = turn;
    this.#model = model;
  }

  /** Takes one event's data. */
  data(text: string): void {
    if (text === "[DONE]" || text === "") return;
    const event: unknown = JSON.parse(text);
    if (isRaw(event)) this.#event(event);
  }

  #event(event: Raw): void {
    const delta = typeof event.delta === "string" ? event.delta : "";
    switch (event.type) {
      case "response.output_text.delta":
        this.#text(event, "text", delta);
        return;
      case "response.refusal.delta":
        this.#text(event, "refusal", delta);
        return;
      case "response.reasoning_summary_text.delta":
        this.#reasoning(event, delta, numberAt(event, "summary_index") ?? 0);
        return;
      case "response.reasoning_text.delta":
        this.#reasoning(event, delta, numberAt(event, "content_index") ?? 0);
        return;
      case "response.function_call_arguments.delta":
        this.#arguments(event, delta);
        return;
      case "response.created":
      case "response.queued":
      case "response.in_progress": {
        const id = textAt(objectAt(event, "response"), "id");
        if (id !== undefined) this.#turn.responseId(id);
        this.#turn.start();
        return;
      }
      case "response.output_item.added":
        this.#added(this.#indexOf(event), objectAt(event, "item"));
        return;
      case "response.output_item.done":
        this.#finished(this.#indexOf(event), objectAt(event, "item"));
        return;
      case "response.output_text.annotation.added":
        this.#item(event, "message").citations.push(objectAt(event, "annotation"));
        return;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
      case "response.cancelled":
        this.#ended(objectAt(event, "response"));
        return;
      case "error":
        this.#turn.fail(bodyFailure(isRaw(event.error) ? event.error : event));
        return;
      default:
        // Every other event repeats what the ones above say, or tells of a server-side tool's progress.
        if (event.type === undefined && isRaw(event.error)) this.#turn.fail(bodyFailure(event.error));
    }
  }

  #indexOf(event: Raw): number {
    return numberAt(event, "output_index") ?? 0;
  }

  /** The item an event speaks of; made up where the stream was joined late. */
  #item(event: Raw, type: string): Item {
    const index = this.#indexOf(event);
    return this.#items.get(index) ?? this.#added(index, { type, id: textAt(event, "item_id") ?? "" });
  }

  #added(index: number, raw: Raw): Item {
    const known = this.#items.get(index);
    if (known !== undefined) return known;
    const type = textAt(raw, "type") ?? "";
    const item: Item = { type, raw, blocks: new Map(), args: false, part: 0, citations: [], text: "" };
    this.#items.set(index, item);
    if (type === "function_call") {
      this.#calls = true;
      const id = textAt(raw, "call_id") ?? textAt(raw, "id") ?? `call_${index}`;
      this.#open(item, 0, { type: "toolCall", id, name: textAt(raw, "name") ?? "" });
    } else if (type === "reasoning") {
      this.#open(item, 0, { type: "thinking" });
    }
    return item;
  }

  #open(item: Item, at: number, head: BlockHead): number {
    const found = item.blocks.get(at);
    if (found !== undefined) return found;
    const index = this.#turn.open(head);
    item.blocks.set(at, index);
    return index;
  }

  #text(event: Raw, type: "text" | "refusal", delta: string): void {
    const item = this.#item(event, "message");
    if (type === "refusal") this.#refused = true;
    item.text += delta;
    this.#turn.text(this.#open(item, numberAt(event, "content_index") ?? 0, { type }), delta);
  }

  #reasoning(event: Raw, delta: string, part: number): void {
    const item = this.#item(event, "reasoning");
    const index = this.#open(item, 0, { type: "thinking" });
    if (part !== item.part) {
      item.part = part;
      this.#turn.thinking(index, "\n\n");
    }
    item.text += delta;
    this.#turn.thinking(index, delta);
  }

  #arguments(event: Raw, delta: string): void {
    const item = this.#items.get(this.#indexOf(event));
    const index = item?.blocks.get(0);
    if (item === undefined || index === undefined || item.type !== "function_call") return;
    item.args = true;
    this.#turn.args(index, delta);
  }

  /** Seals an item's blocks with what the vendor wants to see again. */
  #finished(index: number, raw: Raw): void {
    if (this.#done.has(index)) return;
    this.#done.add(index);
    const item = this.#items.get(index) ?? this.#added(index, raw);
    switch (item.type) {
      case "message":
        this.#sealMessage(item, raw);
        break;
      case "function_call": {
        const at = item.blocks.get(0);
        if (at === undefined) break;
        if (!item.args) this.#turn.args(at, textAt(raw, "arguments") ?? "");
        this.#turn.close(at, nativeOf(this.#model, this.#ownId(raw)));
        break;
      }
      case "reasoning":
        this.#sealReasoning(item, raw);
        break;
      default:
        if (item.type !== "") this.#turn.block(serverItem(this.#model, raw));
    }
  }

  /** An item's id, and the id of the reasoning it must follow when it is sent again. */
  #ownId(raw: Raw): JsonObject {
    const after = this.#reasoningId === undefined ? {} : { after: this.#reasoningId };
    return { id: textAt(raw, "id") ?? "", ...after };
  }

  #sealMessage(item: Item, raw: Raw): void {
    const phase = textAt(raw, "phase");
    const data = { ...this.#ownId(raw), ...(phase === undefined ? {} : { phase }) };
    for (const [at, part] of objectsAt(raw, "content").entries()) {
      const refusal = part.type === "refusal";
      if (refusal) this.#refused = true;
      const said = textAt(part, refusal ? "refusal" : "text") ?? "";
      if (item.blocks.has(at) || said === "") continue;
      this.#turn.text(this.#open(item, at, { type: refusal ? "refusal" : "text" }), said);
      item.text += said;
    }
    for (const at of item.blocks.values()) this.#turn.close(at, nativeOf(this.#model, data));
    for (const citation of item.citations) this.#turn.block(citationBlock(citation, item.text));
  }

  #sealReasoning(item: Item, raw: Raw): void {
    this.#reasoningId = textAt(raw, "id");
    const at = item.blocks.get(0);
    if (at === undefined) return;
    if (item.text === "") {
      const parts = [...objectsAt(raw, "summary"), ...objectsAt(raw, "content")];
      this.#turn.thinking(at, parts.map((part) => textAt(part, "text") ?? "").join("\n\n"));
    }
    this.#turn.close(at, nativeOf(this.#model, keepJson(raw)));
  }

  #ended(response: Raw): void {
    if (response.status === "failed" || response.status === "cancelled") {
      const error = objectAt(response, "error");
      this.#turn.fail(
        isRaw(response.error)
          ? bodyFailure(error)
          : failure("protocol", `The response was ${String(response.status)}.`),
      );
      return;
    }
    for (const [index, item] of objectsAt(response, "output").entries()) {
      if (this.#items.get(index) === undefined) this.#added(index, item);
      if (item.status !== "in_progress" && item.status !== "incomplete") this.#finished(index, item);
    }
    this.#usage(response);
    const reason = textAt(objectAt(response, "incomplete_details"), "reason");
    if (response.status === "incomplete") {
      this.#turn.finish(incompleteReason(reason), reason ?? "incomplete");
      return;
    }
    const stop: StopReason = this.#calls ? "tool_use" : this.#refused ? "refusal" : "end_turn";
    this.#turn.finish(stop, textAt(response, "status") ?? "completed");
  }

  #usage(response: Raw): void {
    if (!isRaw(response.usage)) return;
    const usage = response.usage;
    const details = objectAt(usage, "input_tokens_details");
    const input = numberAt(usage, "input_tokens");
    const cacheRead = numberAt(details, "cached_tokens");
    const cacheWrite = numberAt(details, "cache_write_tokens");
    const uncached =
      input === undefined ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0));
    this.#turn.usage(
      reportedUsage(
        {
          input,
          uncached,
          cacheRead,
          cacheWrite,
          output: numberAt(usage, "output_tokens"),
          reasoning: numberAt(objectAt(usage, "output_tokens_details"), "reasoning_tokens"),
        },
        this.#model.prices,
      ),
    );
  }
}

function incompleteReason(reason: string | undefined): StopReason {
  return reason === "content_filter" ? "filter" : "max_tokens";
}

function citationBlock(annotation: Raw, text: string): Block {
  const title = textAt(annotation, "title") ?? textAt(annotation, "filename");
  const url = textAt(annotation, "url");
  const cited = text.slice(numberAt(annotation, "start_index") ?? 0, numberAt(annotation, "end_index") ?? 0);
  return {
    type: "citation",
    text: cited,
    ...(title === undefined ? {} : { title }),
    ...(url === undefined ? {} : { url }),
  };
}

/** A server-side tool's item: an image it made, or something only the vendor understands. */
function serverItem(model: Model, raw: Raw): Block {
  const result = raw.type === "image_generation_call" ? textAt(raw, "result") : undefined;
  if (result === undefined) return { type: "opaque", native: nativeOf(model, keepJson(raw)) };
  const { result: _, ...rest } = raw;
  const format = textAt(raw, "output_format") ?? "png";
  return {
    type: "image",
    mimeType: `image/${format}`,
    source: { kind: "base64", data: result },
    native: nativeOf(model, keepJson(rest)),
  };
}
