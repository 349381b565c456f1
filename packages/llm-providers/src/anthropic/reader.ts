import { isJsonObject, type JsonObject, type StopReason } from "@signalbox/agent-core";
import { type TokenCounts, validCounts } from "../cost.ts";
import { classify, type FailureFacts, failure, NO_MESSAGE } from "../failure/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import {
  entryOf,
  numberAt,
  objectAt,
  objectsAt,
  parseEvent,
  parseObject,
  textAt,
  unlessEmpty,
  withoutUndefined,
} from "../shared/json.ts";
import { TaggedText } from "../shared/tagged-text.ts";
import type { ThinkTags } from "../shared/think-tags.ts";
import type { TurnWriter } from "../turn/record.ts";

const STOP: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
  pause_turn: "pause",
  // Words of other vendors, which proxies pass on.
  length: "max_tokens",
  max_output_tokens: "max_tokens",
  content_filter: "filter",
};

/** Block types by the types of their deltas. */
const BLOCK_OF_DELTA: Readonly<Record<string, string>> = { text_delta: "text", thinking_delta: "thinking" };

/** Reads an error object of the API: `{type, message}`, sometimes with a more specific `details.error_code`. */
export function readError(error: JsonObject, known: FailureFacts = NO_MESSAGE): FailureFacts {
  return {
    ...known,
    message: textAt(error, "message") ?? known.message,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  };
}

interface Reading {
  /** The block's index in our turn, or `undefined` for a vendor-specific block. */
  readonly index: number | undefined;
  readonly start: JsonObject;
  signature: string;
  json: string;
  /** Separates reasoning in tags from the text of this block. */
  readonly tagged?: TaggedText;
}

/** Reads the events of `/v1/messages`. */
export class AnthropicReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #open = new Map<number, Reading>();
  #begun = false;
  #calls = 0;
  /** Reads the first block of the answer. */
  #tags: ThinkTags | undefined;
  /** The text of that block, until the next block or the end of the answer. */
  #tagged: TaggedText | undefined;
  #tokens: TokenCounts = {};
  #stop: string | undefined;
  #explanation: string | undefined;

  /** @param tags reads tagged reasoning at the start of the text, if this server may send it */
  constructor(turn: TurnWriter, tags?: ThinkTags) {
    this.#turn = turn;
    this.#tags = tags;
  }

  data(text: string): void {
    for (const event of parseEvent(text)) this.#event(event);
  }

  whole(text: string): void {
    for (const answer of parseEvent(text)) {
      if (Array.isArray(answer.content)) this.#whole(answer);
      else this.#event(answer);
    }
  }

  #whole(message: JsonObject): void {
    this.#message(message);
    for (const [at, block] of objectsAt(message, "content").entries()) {
      this.#begun = true;
      this.#start(at, block);
      this.#close(at);
    }
    this.#stop = textAt(message, "stop_reason");
    this.#explanation = textAt(objectAt(message, "stop_details"), "explanation");
    this.#stopped();
  }

  /** Handles the end of a message. Some servers do not send a stop reason. */
  #stopped(): void {
    if (this.#begun) this.#stop ??= "end_turn";
    this.#end();
  }

  #event(event: JsonObject): void {
    const at = numberAt(event, "index") ?? 0;
    const delta = objectAt(event, "delta");
    switch (event.type) {
      case "content_block_delta":
        this.#delta(this.#open.get(at) ?? this.#startMissing(at, delta), delta);
        break;
      case "content_block_start":
        this.#begun = true;
        this.#close(at);
        this.#start(at, objectAt(event, "content_block"));
        break;
      case "content_block_stop":
        this.#close(at);
        break;
      case "message_start":
        this.#message(objectAt(event, "message"));
        break;
      case "message_delta":
        this.#stop = textAt(delta, "stop_reason") ?? this.#stop;
        this.#explanation = textAt(objectAt(delta, "stop_details"), "explanation") ?? this.#explanation;
        this.#count(objectAt(event, "usage"));
        break;
      case "message_stop":
        this.#stopped();
        break;
      case "message":
        // Some proxies send the whole message as one event.
        if (!this.#begun && Array.isArray(event.content)) this.#whole(event);
        break;
      default:
        // Errors from a proxy have another type or none.
        if (event.type === "error" || isJsonObject(event.error))
          this.#turn.fail(classify(readError(isJsonObject(event.error) ? event.error : event)));
    }
  }

  wireEnded(broken: boolean): void {
    if (!broken) this.#end();
  }

  /** Ends the turn if a stop reason has arrived, even if the vendor's last event is missing. */
  #end(): void {
    const raw = this.#stop;
    if (raw === undefined || this.#turn.ended) return;
    for (const index of [...this.#open.keys()]) this.#close(index);
    const stop = entryOf(STOP, raw) ?? "end_turn";
    this.#endTagged(stop !== "max_tokens");
    if (raw === "model_context_window_exceeded") {
      this.#turn.fail(failure("overflow", "The answer filled the model's context window."));
      return;
    }
    if (raw === "refusal" && this.#explanation !== undefined)
      this.#turn.block({ type: "refusal", text: this.#explanation });
    // Some servers send `end_turn` after tool calls.
    this.#turn.finish(stop === "end_turn" && this.#calls > 0 ? "tool_use" : stop, raw);
  }

  /** @param complete false if the answer was truncated or another block follows */
  #endTagged(complete: boolean): void {
    this.#tagged?.end(complete);
    this.#tagged = undefined;
  }

  /** Opens a block whose start event is missing. */
  #startMissing(at: number, delta: JsonObject): Reading | undefined {
    const type = entryOf(BLOCK_OF_DELTA, textAt(delta, "type") ?? "");
    if (type === undefined) return undefined;
    this.#begun = true;
    this.#start(at, { type });
    return this.#open.get(at);
  }

  #message(message: JsonObject): void {
    if (this.#begun) {
      // The events of two answers in one stream are indistinguishable, and a partial call must not run.
      this.#turn.fail(failure("protocol", "A second answer began in the middle of the first."));
      return;
    }
    // If a second start arrives before any content, a proxy caused it. Only its usage counts.
    this.#turn.responseId(textAt(message, "id"));
    this.#count(objectAt(message, "usage"));
  }

  #start(at: number, start: JsonObject): void {
    this.#endTagged(false);
    const turn = this.#turn;
    const type = textAt(start, "type");
    const reading = { start, signature: textAt(start, "signature") ?? "", json: "" };
    switch (type) {
      case "text":
      case "thinking": {
        const tags = this.#tags;
        this.#tags = undefined;
        if (type === "text" && tags !== undefined) {
          const tagged = new TaggedText(turn, tags);
          this.#tagged = tagged;
          tagged.push(textAt(start, type) ?? "");
          this.#open.set(at, { ...reading, index: undefined, tagged });
          break;
        }
        const index = turn.open({ type });
        turn.append(index, textAt(start, type) ?? "");
        this.#open.set(at, { ...reading, index });
        break;
      }
      case "tool_use": {
        this.#calls++;
        const head = { id: textAt(start, "id") ?? turn.callId(at), name: textAt(start, "name") ?? "" };
        this.#open.set(at, { ...reading, index: turn.open({ type: "toolCall", ...head }) });
        break;
      }
      case "redacted_thinking": {
        const native = turn.native({ redacted: textAt(start, "data") ?? "" });
        turn.block({ type: "thinking", text: "", redacted: true, native });
        break;
      }
      case undefined:
        // A block without a type cannot be sent back.
        break;
      default:
        this.#open.set(at, { ...reading, index: undefined });
    }
  }

  #delta(block: Reading | undefined, delta: JsonObject): void {
    if (block === undefined) return;
    switch (delta.type) {
      case "text_delta":
        this.#append(block, textAt(delta, "text"));
        break;
      case "thinking_delta":
        this.#append(block, textAt(delta, "thinking"));
        break;
      case "input_json_delta": {
        const json = textAt(delta, "partial_json") ?? "";
        block.json += json;
        this.#append(block, json);
        break;
      }
      case "signature_delta":
        block.signature += textAt(delta, "signature") ?? "";
        break;
      case "citations_delta":
        this.#citation(objectAt(delta, "citation"));
        break;
      default:
    }
  }

  #append({ index, tagged }: Reading, text = ""): void {
    tagged?.push(text);
    if (index !== undefined) this.#turn.append(index, text);
  }

  #citation(citation: JsonObject): void {
    const title = textAt(citation, "title") ?? textAt(citation, "document_title");
    const data = toReplayableCitation(citation);
    const native = data && this.#turn.native(data);
    const text = textAt(citation, "cited_text") ?? "";
    this.#turn.block({
      type: "citation",
      text,
      ...withoutUndefined({ title, url: textAt(citation, "url"), native }),
    });
  }

  #close(at: number): void {
    const block = this.#open.get(at);
    if (block === undefined) return;
    this.#open.delete(at);
    const { index, start, json, signature, tagged } = block;
    if (tagged !== undefined) return;
    if (index === undefined) {
      const input = parseObject(json);
      // A server-side tool call with truncated input cannot be sent back.
      if (json === "" || input !== undefined)
        this.#turn.block({
          type: "opaque",
          native: this.#turn.native({ ...start, ...withoutUndefined({ input }) }),
        });
      return;
    }
    // Some servers send the complete input with the start event.
    const input = json === "" ? unlessEmpty(objectAt(start, "input")) : undefined;
    if (input !== undefined) this.#turn.append(index, JSON.stringify(input));
    this.#turn.close(index, signature === "" ? undefined : { signature });
  }

  /** The start event reports the input, and the last event may correct it. The latest value of each count is used. */
  #count(usage: JsonObject): void {
    const counts = validCounts({
      uncached: usage.input_tokens,
      cacheRead: usage.cache_read_input_tokens,
      cacheWrite: usage.cache_creation_input_tokens,
      cacheWriteLong: objectAt(usage, "cache_creation").ephemeral_1h_input_tokens,
      output: usage.output_tokens,
      reasoning: objectAt(usage, "output_tokens_details").thinking_tokens,
    });
    if (unlessEmpty(counts) === undefined) return;
    this.#tokens = { ...this.#tokens, ...counts };
    const { uncached, cacheRead = 0, cacheWrite = 0 } = this.#tokens;
    const input = uncached === undefined ? undefined : uncached + cacheRead + cacheWrite;
    this.#turn.tokens({ ...this.#tokens, input });
  }
}

/** Returns a citation that the vendor accepts back. It accepts only those from its web search. */
function toReplayableCitation(citation: JsonObject): JsonObject | undefined {
  const { type, cited_text, url, title = null, encrypted_index } = citation;
  if (type !== "web_search_result_location") return undefined;
  if (typeof cited_text !== "string" || typeof url !== "string") return undefined;
  if (typeof encrypted_index !== "string" || typeof (title ?? "") !== "string") return undefined;
  return { type, cited_text, url, title, encrypted_index };
}
