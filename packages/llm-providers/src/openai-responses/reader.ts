import { type BlockHead, isJsonObject, type JsonObject, type StopReason } from "@signalbox/agent-core";
import { classify, failure } from "../failure/failure.ts";
import { readError } from "../openai/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import {
  countAt,
  entryOf,
  isCount,
  numberAt,
  objectAt,
  objectsAt,
  parseEvent,
  textAt,
  unlessEmpty,
  withoutUndefined,
} from "../shared/json.ts";
import { TaggedText } from "../shared/tagged-text.ts";
import type { ThinkTags } from "../shared/think-tags.ts";
import type { TurnWriter } from "../turn/record.ts";

/** An open block and its text so far. */
interface Part {
  /** Absent for a text that may begin with tagged reasoning. */
  readonly index: number | undefined;
  readonly tagged?: TaggedText;
  text: string;
}

/** An output item that is still streaming. */
interface Item {
  readonly type: string;
  /** By content index. Reasoning and calls have one part, with index 0. */
  readonly parts: Map<number, Part>;
  /** The index of the summary part being streamed. */
  summary: number;
  readonly citations: JsonObject[];
}

export class ResponsesReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #items = new Map<number, Item>();
  /** The indexes and ids of finished items. */
  readonly #done = new Set<number | string>();
  #reasoningId: string | undefined;
  #calls = false;
  #refused = false;
  /** Reads the first text of the answer. */
  #tags: ThinkTags | undefined;
  #tagged: TaggedText | undefined;
  /** The data of the message with that text. */
  #taggedData: JsonObject | undefined;

  /** @param tags reads tagged reasoning at the start of the text, if this server may send it */
  constructor(turn: TurnWriter, tags?: ThinkTags) {
    this.#turn = turn;
    this.#tags = tags;
  }

  data(text: string): void {
    if (text.trim() === "[DONE]") return;
    for (const event of parseEvent(text)) this.#event(event);
  }

  /** All other events repeat the content of these, or report the progress of a server-side tool. */
  readonly #on: Readonly<Record<string, (event: JsonObject, delta: string) => void>> = {
    "response.output_text.delta": (event, delta) => this.#text(event, "text", delta),
    "response.refusal.delta": (event, delta) => this.#text(event, "refusal", delta),
    "response.reasoning_summary_text.delta": (event, delta) => this.#reasoning(event, delta, "summary_index"),
    "response.reasoning_text.delta": (event, delta) => this.#reasoning(event, delta, "content_index"),
    "response.function_call_arguments.delta": (event, delta) => this.#arguments(event, delta),
    "response.created": (event) => this.#begin(event),
    "response.queued": (event) => this.#begin(event),
    "response.in_progress": (event) => this.#begin(event),
    "response.output_item.added": (event) => this.#added(this.#indexOf(event), objectAt(event, "item")),
    "response.output_item.done": (event) => this.#finished(this.#indexOf(event), objectAt(event, "item")),
    "response.output_text.annotation.added": (event) =>
      this.#item(event, "message").citations.push(objectAt(event, "annotation")),
    "response.completed": (event) => this.#ended(objectAt(event, "response"), "completed"),
    "response.incomplete": (event) => this.#ended(objectAt(event, "response"), "incomplete"),
    "response.failed": (event) => this.#ended(objectAt(event, "response"), "failed"),
    "response.cancelled": (event) => this.#ended(objectAt(event, "response"), "cancelled"),
    error: (event) => this.#turn.fail(classify(readError(isJsonObject(event.error) ? event.error : event))),
  };

  #event(event: JsonObject): void {
    // Failures from a proxy have no type.
    const type = event.type ?? (isJsonObject(event.error) ? "error" : "");
    if (typeof type !== "string") return;
    entryOf(this.#on, type)?.(event, typeof event.delta === "string" ? event.delta : "");
  }

  #begin(event: JsonObject): void {
    this.#turn.responseId(textAt(objectAt(event, "response"), "id"));
    this.#turn.start();
  }

  #indexOf(event: JsonObject): number {
    return numberAt(event, "output_index") ?? 0;
  }

  /** Returns the item of an event. Creates it if its `added` event is missing. */
  #item(event: JsonObject, type: string): Item {
    return this.#added(this.#indexOf(event), { type });
  }

  /** Returns the item at an index. Creates it if it does not exist. */
  #added(index: number, raw: JsonObject): Item {
    const before = this.#items.get(index);
    if (before !== undefined) return before;
    const type = textAt(raw, "type") ?? "";
    const item: Item = { type, parts: new Map(), summary: 0, citations: [] };
    this.#items.set(index, item);
    if (type === "function_call") {
      this.#calls = true;
      const id = textAt(raw, "call_id") ?? textAt(raw, "id") ?? this.#turn.callId(index);
      this.#open(item, 0, { type: "toolCall", id, name: textAt(raw, "name") ?? "" });
    } else if (type === "reasoning") {
      this.#open(item, 0, { type: "thinking" });
    }
    return item;
  }

  #open(item: Item, at: number, head: BlockHead): Part {
    const part = item.parts.get(at) ?? this.#createPart(head);
    item.parts.set(at, part);
    return part;
  }

  #createPart(head: BlockHead): Part {
    if (head.type !== "text" || this.#tags === undefined) {
      this.#endTagged(false);
      return { index: this.#turn.open(head), text: "" };
    }
    const tagged = new TaggedText(this.#turn, this.#tags, () => this.#taggedData);
    this.#tags = undefined;
    this.#tagged = tagged;
    return { index: undefined, tagged, text: "" };
  }

  /** @param complete false if the answer was truncated or another block follows */
  #endTagged(complete: boolean): void {
    this.#tagged?.end(complete);
    this.#tagged = undefined;
  }

  #text(event: JsonObject, type: "text" | "refusal", delta: string): void {
    if (type === "refusal") this.#refused = true;
    const part = this.#open(this.#item(event, "message"), numberAt(event, "content_index") ?? 0, { type });
    this.#append(part, delta);
  }

  #append(part: Part, text: string): void {
    part.text += text;
    if (part.index !== undefined) this.#turn.append(part.index, text);
    else if (part.tagged === this.#tagged) part.tagged?.push(text);
  }

  /** Appends the part of a final text that its deltas did not contain. */
  #complete(part: Part, whole = ""): void {
    if (whole.startsWith(part.text)) this.#append(part, whole.slice(part.text.length));
  }

  #reasoning(event: JsonObject, delta: string, place: "summary_index" | "content_index"): void {
    const summary = numberAt(event, place) ?? 0;
    const item = this.#item(event, "reasoning");
    const part = this.#open(item, 0, { type: "thinking" });
    const gap = summary === item.summary ? "" : "\n\n";
    item.summary = summary;
    this.#append(part, gap + delta);
  }

  #arguments(event: JsonObject, delta: string): void {
    const item = this.#items.get(this.#indexOf(event));
    const part = item?.parts.get(0);
    if (part !== undefined && item?.type === "function_call") this.#append(part, delta);
  }

  /** Ends the blocks of an item, with the data that the vendor requires back. */
  #finished(index: number, raw: JsonObject): void {
    if (this.#done.has(index)) return;
    this.#done.add(index).add(textAt(raw, "id") ?? index);
    const item = this.#added(index, raw);
    switch (item.type) {
      case "message":
        this.#sealMessage(item, raw);
        break;
      case "function_call":
        this.#close(item.parts.get(0), textAt(raw, "arguments"), this.#ownId(raw));
        break;
      case "reasoning": {
        this.#reasoningId = textAt(raw, "id");
        const pieces = unlessEmpty(objectsAt(raw, "summary")) ?? objectsAt(raw, "content");
        const whole = pieces.map((piece) => textAt(piece, "text") ?? "").join("\n\n");
        this.#close(item.parts.get(0), whole, raw);
        break;
      }
      default:
        if (item.type !== "") this.#serverItem(raw);
    }
  }

  #close(part: Part | undefined, whole: string | undefined, data: JsonObject): void {
    if (part === undefined) return;
    this.#complete(part, whole);
    if (part.index !== undefined) this.#turn.close(part.index, data);
  }

  /** Returns an item's id and the id of the reasoning that must precede it when it is sent back. */
  #ownId(raw: JsonObject): JsonObject {
    return { id: textAt(raw, "id") ?? "", ...withoutUndefined({ after: this.#reasoningId }) };
  }

  #sealMessage(item: Item, raw: JsonObject): void {
    const data = { ...this.#ownId(raw), ...withoutUndefined({ phase: textAt(raw, "phase") }) };
    const streamed = new Set(item.parts.values());
    for (const [at, content] of objectsAt(raw, "content").entries()) {
      const type = content.type === "refusal" ? "refusal" : "text";
      if (type === "refusal") this.#refused = true;
      const whole = textAt(content, type) ?? "";
      if (whole === "") continue;
      // A finished item omits parts that stayed empty, so its indexes differ from those in the stream.
      const part =
        [...streamed].find(({ text }) => text !== "" && whole.startsWith(text)) ??
        this.#open(item, at, { type });
      streamed.delete(part);
      this.#complete(part, whole);
    }
    for (const { index, tagged } of item.parts.values()) {
      if (index !== undefined) this.#turn.close(index, data);
      else if (tagged === this.#tagged) {
        this.#taggedData = data;
        this.#endTagged(true);
      }
    }
    const text = [...item.parts.values()].map((part) => part.text).join("");
    for (const citation of item.citations) this.#citation(citation, text, item.parts.size === 1);
  }

  /** @param text the text of the message */
  #citation(annotation: JsonObject, text: string, mayGoBack: boolean): void {
    const title = textAt(annotation, "title") ?? textAt(annotation, "filename");
    const url = textAt(annotation, "url");
    const [from = 0, to = 0] = ["start_index", "end_index"].map((key) => numberAt(annotation, key));
    const data = mayGoBack ? toReplayableCitation(annotation) : undefined;
    const native = data && this.#turn.native(data);
    this.#turn.block({
      type: "citation",
      text: text.slice(from, to),
      ...withoutUndefined({ title, url, native }),
    });
  }

  /** Handles an item of a server-side tool: an image, or vendor-specific data. */
  #serverItem(raw: JsonObject): void {
    const { result, ...rest } = raw;
    if (raw.type !== "image_generation_call" || typeof result !== "string" || result === "") {
      this.#turn.block({ type: "opaque", native: this.#turn.native(raw) });
      return;
    }
    this.#turn.block({
      type: "image",
      mimeType: `image/${textAt(raw, "output_format") ?? "png"}`,
      source: { kind: "base64", data: result },
      native: this.#turn.native(rest),
    });
  }

  /** @param word the status from the event's name, for servers whose response has none */
  #ended(response: JsonObject, word: string): void {
    const { error } = response;
    const status = textAt(response, "status") ?? word;
    if (status === "failed" || status === "cancelled") {
      const unexplained = failure("protocol", `The response was ${status}.`);
      this.#turn.fail(isJsonObject(error) ? classify(readError(error)) : unexplained);
      return;
    }
    for (const [index, item] of objectsAt(response, "output").entries()) {
      // Some servers omit items from the final response. That shifts the indexes, but not the ids.
      if (this.#done.has(textAt(item, "id") ?? "")) continue;
      if (item.status !== "in_progress" && item.status !== "incomplete") this.#finished(index, item);
    }
    this.#endTagged(status !== "incomplete");
    if (isJsonObject(response.usage)) this.#usage(response.usage);
    const reason = textAt(objectAt(response, "incomplete_details"), "reason");
    if (status === "incomplete") {
      this.#turn.finish(reason === "content_filter" ? "filter" : "max_tokens", reason ?? status);
      return;
    }
    const stop: StopReason = this.#calls ? "tool_use" : this.#refused ? "refusal" : "end_turn";
    this.#turn.finish(stop, status);
  }

  #usage(usage: JsonObject): void {
    const input = objectAt(usage, "input_tokens_details");
    this.#turn.tokens({
      input: countAt(usage, "input_tokens"),
      cacheRead: countAt(input, "cached_tokens"),
      cacheWrite: countAt(input, "cache_write_tokens"),
      output: countAt(usage, "output_tokens"),
      reasoning: countAt(objectAt(usage, "output_tokens_details"), "reasoning_tokens"),
    });
  }
}

/**
 * Returns a citation that the vendor accepts back. It accepts only those of web pages, because files may have been
 * deleted.
 */
function toReplayableCitation(annotation: JsonObject): JsonObject | undefined {
  const { type, url, title, start_index, end_index } = annotation;
  if (type !== "url_citation" || typeof url !== "string" || typeof title !== "string") return undefined;
  if (!isCount(start_index) || !isCount(end_index)) return undefined;
  return { type, url, title, start_index, end_index };
}
