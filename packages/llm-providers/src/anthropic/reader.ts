import { randomUUID } from "node:crypto";
import type { Anthropic } from "@anthropic-ai/sdk";
import type { JsonObject, StopReason } from "@signalbox/agent-core";
import { counted, type TokenCounts } from "../cost.ts";
import { classify, type FailureFacts, failure, NOTHING_SAID } from "../failure/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import { entryOf, isRaw, keepJson, objectAt, parseRaw, type Raw, stated, textAt } from "../shared/json.ts";
import type { TurnWriter } from "../turn/record.ts";

interface ErrorEvent {
  readonly type: "error";
  readonly error?: unknown;
}

const STOP: Readonly<Record<string, StopReason>> = {
  end_turn: "end_turn",
  tool_use: "tool_use",
  max_tokens: "max_tokens",
  stop_sequence: "stop_sequence",
  refusal: "refusal",
  pause_turn: "pause",
};

/** What an `error` object of the API says: `{type, message}`, with a more specific `details.error_code` at times. */
export function readError(error: Raw, known: FailureFacts = NOTHING_SAID): FailureFacts {
  return {
    ...known,
    message: textAt(error, "message") ?? known.message,
    words: [textAt(objectAt(error, "details"), "error_code"), textAt(error, "type")],
  };
}

/** A text, where it is one: the SDK's types say what the vendor documents, not what a server sends. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The index of a block that only the vendor understands: it is kept as it came. */
const OPAQUE = -1;

interface Reading {
  /** In our turn, or `OPAQUE`. */
  readonly index: number;
  readonly start: Anthropic.ContentBlock;
  signature: string;
  json: string;
}

export class AnthropicReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #open = new Map<number, Reading>();
  #begun = false;
  #tokens: TokenCounts = {};
  #stop: string | undefined;
  #explanation: string | undefined;

  constructor(turn: TurnWriter) {
    this.#turn = turn;
  }

  data(text: string): void {
    const event: Anthropic.RawMessageStreamEvent | ErrorEvent | { readonly type: "ping" } = JSON.parse(text);
    switch (event.type) {
      case "content_block_delta":
        this.#delta(event.index, event.delta);
        break;
      case "content_block_start":
        this.#start(event.index, event.content_block);
        break;
      case "content_block_stop":
        this.#close(event.index);
        break;
      case "message_start":
        if (this.#begun) {
          // Two answers spliced into one cannot be told apart, and half a call must not run.
          this.#turn.fail(failure("protocol", "A second answer began in the middle of the first."));
          break;
        }
        // A second one before any content is a proxy's mistake and adds nothing but its usage.
        this.#turn.responseId(textOf(event.message.id));
        this.#count(event.message.usage);
        break;
      case "message_delta":
        this.#stop = textOf(event.delta.stop_reason) ?? this.#stop;
        this.#explanation = textOf(event.delta.stop_details?.explanation) ?? this.#explanation;
        this.#count(event.usage);
        break;
      case "message_stop":
        this.#end();
        break;
      case "error":
        this.#turn.fail(classify(readError(isRaw(event.error) ? event.error : {})));
        break;
      default:
        // As a proxy says it.
        if ("error" in event && isRaw(event.error)) this.#turn.fail(classify(readError(event.error)));
    }
  }

  wireEnded(broken: boolean): void {
    if (!broken) this.#end();
  }

  /** The answer is over, with or without the vendor's last event: what counts is that it said why it stopped. */
  #end(): void {
    const raw = this.#stop;
    if (raw === undefined || this.#turn.ended) return;
    for (const index of [...this.#open.keys()]) this.#close(index);
    if (raw === "model_context_window_exceeded") {
      const full = failure("overflow", "The answer filled the model's context window.");
      this.#turn.fail(full, "context_overflow");
      return;
    }
    if (raw === "refusal" && this.#explanation !== undefined)
      this.#turn.block({ type: "refusal", text: this.#explanation });
    this.#turn.finish(entryOf(STOP, raw) ?? "end_turn", raw);
  }

  #start(at: number, start: Anthropic.ContentBlock): void {
    this.#begun = true;
    this.#close(at);
    const index = this.#opened(start);
    if (index === undefined) return;
    const signature = start.type === "thinking" ? (textOf(start.signature) ?? "") : "";
    this.#open.set(at, { index, start, signature, json: "" });
  }

  /** The index of a block that has begun; `undefined` where nothing of it is to come. */
  #opened(block: Anthropic.ContentBlock): number | undefined {
    const turn = this.#turn;
    switch (block.type) {
      case "text":
      case "thinking": {
        const index = turn.open({ type: block.type });
        turn.append(index, block.type === "text" ? block.text : block.thinking);
        return index;
      }
      case "redacted_thinking": {
        const native = turn.native({ redacted: textOf(block.data) ?? "" });
        turn.block({ type: "thinking", text: "", redacted: true, native });
        return undefined;
      }
      case "tool_use": {
        const id = textOf(block.id) ?? `toolu_${randomUUID().replaceAll("-", "")}`;
        return turn.open({ type: "toolCall", id, name: textOf(block.name) ?? "" });
      }
      default:
        // What has no type could not be sent back.
        return textOf(block.type) === undefined ? undefined : OPAQUE;
    }
  }

  #delta(at: number, delta: Anthropic.RawContentBlockDelta): void {
    const block = this.#open.get(at);
    if (block === undefined) return;
    switch (delta.type) {
      case "text_delta":
        this.#turn.append(block.index, delta.text);
        break;
      case "thinking_delta":
        this.#turn.append(block.index, delta.thinking);
        break;
      case "input_json_delta":
        block.json += textOf(delta.partial_json) ?? "";
        this.#turn.append(block.index, delta.partial_json);
        break;
      case "signature_delta":
        block.signature += textOf(delta.signature) ?? "";
        break;
      case "citations_delta":
        this.#citation({ ...delta.citation }, sentBack(delta.citation));
        break;
      default:
    }
  }

  #citation(citation: Raw, data: JsonObject | undefined): void {
    const title = textAt(citation, "title") ?? textAt(citation, "document_title");
    const native = data && this.#turn.native(data);
    const text = textAt(citation, "cited_text") ?? "";
    this.#turn.block({ type: "citation", text, ...stated({ title, url: textAt(citation, "url"), native }) });
  }

  #close(at: number): void {
    const block = this.#open.get(at);
    if (block === undefined) return;
    this.#open.delete(at);
    const { index, start, json, signature } = block;
    if (start.type === "tool_use") {
      // Some servers send the arguments whole with the start.
      if (json === "" && isRaw(start.input) && Object.keys(start.input).length > 0)
        this.#turn.append(index, JSON.stringify(start.input));
      this.#turn.close(index);
    } else if (index === OPAQUE) {
      const input = json === "" ? undefined : parseRaw(json);
      // What was cut off in the middle of its input could not be sent back.
      if (json !== "" && input === undefined) return;
      const whole = keepJson({ ...start, ...stated({ input }) });
      this.#turn.block({ type: "opaque", native: this.#turn.native(whole) });
    } else {
      this.#turn.close(index, signature === "" ? undefined : { signature });
    }
  }

  /** Input counts come with the start and may be corrected at the end; each figure is the latest one said. */
  #count(wire: Anthropic.Usage | Anthropic.MessageDeltaUsage | null | undefined): void {
    if (typeof wire !== "object" || wire === null) return;
    const said = counted({
      uncached: wire.input_tokens,
      cacheRead: wire.cache_read_input_tokens,
      cacheWrite: wire.cache_creation_input_tokens,
      cacheWriteLong: "cache_creation" in wire && wire.cache_creation?.ephemeral_1h_input_tokens,
      output: wire.output_tokens,
      reasoning: wire.output_tokens_details?.thinking_tokens,
    });
    this.#tokens = { ...this.#tokens, ...said };
    const { uncached, cacheRead = 0, cacheWrite = 0 } = this.#tokens;
    const input = uncached === undefined ? undefined : uncached + cacheRead + cacheWrite;
    this.#turn.tokens({ ...this.#tokens, input });
  }
}

/** What the vendor wants to see again of a citation: those of its web search, which cite themselves. */
function sentBack(citation: Anthropic.CitationsDelta["citation"]): JsonObject | undefined {
  if (citation.type !== "web_search_result_location") return undefined;
  const { type, cited_text, url, title, encrypted_index } = citation;
  if ([cited_text, url, encrypted_index, title ?? ""].some((field) => textOf(field) === undefined))
    return undefined;
  return { type, cited_text, url, title: title ?? null, encrypted_index };
}
