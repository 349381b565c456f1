import { type Block, isJsonObject, type JsonObject, type StopReason } from "@signalbox/agent-core";
import type { TokenCounts } from "../cost.ts";
import { classify, type Failure, failure } from "../failure/failure.ts";
import { readError } from "../openai/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import {
  entryOf,
  numberAt,
  objectAt,
  objectsAt,
  parseEvent,
  textAt,
  withoutUndefined,
} from "../shared/json.ts";
import { Speech } from "../shared/speech.ts";
import type { TaggedPiece, ThinkTags } from "../shared/think-tags.ts";
import type { TurnWriter } from "../turn/record.ts";
import { ChatCalls } from "./calls.ts";
import { ReasoningDetails } from "./reasoning-details.ts";
import type { TextCalls } from "./text-calls.ts";
import { readUsage } from "./usage.ts";

/** Reads the chunks of a chat completion. */
export class ChatReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #tags: ThinkTags | undefined;
  readonly #textCalls: TextCalls | undefined;
  readonly #speech: Speech;
  readonly #calls: ChatCalls;
  readonly #details = new ReasoningDetails();
  readonly #extras: Block[] = [];
  /** The content so far, including tags. */
  #content = "";
  /** Number of deltas in which the content arrived. */
  #pieces = 0;
  /** The reasoning so far that arrived in the content. */
  #taggedReasoning = "";
  #reasoningField: string | undefined;
  #signature: string | undefined;
  #finish: string | undefined;
  #refused = false;
  #usage: TokenCounts | undefined;

  /**
   * @param tags reads tagged reasoning at the start of the content, if this server may send it
   * @param textCalls reads calls at the end of the content, if this server may send any
   * @param isTool returns true for the name of an offered tool
   */
  constructor(turn: TurnWriter, tags?: ThinkTags, textCalls?: TextCalls, isTool?: (name: string) => boolean) {
    this.#turn = turn;
    this.#textCalls = textCalls;
    this.#speech = new Speech(turn, (kind) => (kind === "thinking" ? this.#thinkingData() : undefined));
    this.#calls = new ChatCalls(turn, () => this.#endSpeech(false), isTool);
    this.#tags = tags;
  }

  data(text: string): void {
    if (text.trim() === "[DONE]") this.#done();
    else for (const chunk of parseEvent(text)) this.#chunk(chunk);
  }

  whole(text: string): void {
    const answers = parseEvent(text);
    for (const answer of answers) {
      this.#chunk(answer);
      // Snowflake Cortex does not send a finish reason.
      if (isJsonObject(objectsAt(answer, "choices")[0]?.message)) this.#finish ??= "stop";
    }
    if (answers.every((answer) => objectsAt(answer, "choices").length === 0))
      this.#turn.fail(
        failure("protocol", `The server returned no answer: ${text.slice(0, MAX_QUOTE_LENGTH)}`),
      );
  }

  /**
   * Finishes the turn if the finish reason has arrived. All content precedes it, so a connection that breaks later
   * loses nothing.
   */
  wireEnded(): void {
    if (this.#finish === undefined || this.#turn.ended) return;
    this.#endSpeech(entryOf(STOP, normalizeReason(this.#finish)) !== "max_tokens");
    this.#calls.openAll();
    for (const block of this.#extras) this.#turn.block(block);
    if (this.#usage !== undefined) this.#turn.tokens(this.#usage);
    else this.#turn.estimate();
    this.#end(this.#finish);
  }

  /** Some servers send no finish reason. If there is usage, the server itself ended the answer. */
  #done(): void {
    if (this.#usage !== undefined) {
      if (this.#calls.areComplete()) this.#finish ??= "tool_calls";
      else if (this.#calls.count === 0 && this.#content.trim() !== "") this.#finish ??= "stop";
    }
    if (this.#finish !== undefined) this.wireEnded();
    else this.#turn.fail(failure("protocol", "The server ended the stream without a finish reason."));
  }

  #chunk(chunk: JsonObject): void {
    const failed = readFailure(chunk);
    if (failed !== undefined) {
      this.#turn.fail(failed);
      return;
    }
    this.#turn.responseId(textAt(chunk, "id"));
    this.#usage = readUsage(chunk) ?? this.#usage;
    const choices = objectsAt(chunk, "choices");
    const choice = choices.find(({ index }) => index === 0) ?? choices[0];
    if (choice === undefined) return;
    if (isJsonObject(choice.error)) {
      this.#turn.fail(classify(readError(choice.error)));
      return;
    }
    const { delta, message } = choice;
    const finish = finishReason(choice);
    if (isJsonObject(delta) && (Object.keys(delta).length > 0 || !isJsonObject(message))) {
      if (finish !== undefined && this.#isRepeated(delta)) this.#message(delta, true);
      else this.#delta(delta);
    } else if (isJsonObject(message)) this.#message(message, chunk.object === "chat.completion");
    else this.#text(textAt(choice, "text") ?? textAt(choice, "delta") ?? "");
    this.#finish = finish ?? this.#finish;
  }

  /** Returns true if the last delta repeats the entire text that arrived in several deltas. */
  #isRepeated({ content }: JsonObject): boolean {
    return this.#pieces > 1 && content === this.#content && this.#content.length >= MIN_REPEATED_LENGTH;
  }

  /**
   * Reads a `message` instead of a `delta`. Some servers repeat the entire message at the end of a stream. Only its new
   * content counts.
   */
  #message(message: JsonObject, isWhole: boolean): void {
    const { content, tool_calls, ...rest } = message;
    const text = typeof content === "string" ? content : undefined;
    const isRepeated = this.#content !== "" && (isWhole || text?.startsWith(this.#content) === true);
    const hasCalls = this.#calls.count > 0;
    if (!isRepeated && !hasCalls) {
      // The reasoning that has already arrived is repeated too.
      this.#delta(this.#reasoningField === undefined ? message : withoutReasoning(message));
      return;
    }
    const added = text?.startsWith(this.#content) ? text.slice(this.#content.length) : "";
    const { refusal, images, annotations } = rest;
    this.#delta({
      ...withoutUndefined({ refusal: this.#refused ? undefined : refusal, images, annotations }),
      content: isRepeated ? added : (text ?? ""),
      ...(!hasCalls && tool_calls !== undefined && { tool_calls }),
    });
  }

  #delta(delta: JsonObject): void {
    this.#reasoning(delta);
    for (const part of [delta.content ?? []].flat()) {
      if (typeof part === "string") this.#text(part);
      else if (isJsonObject(part)) this.#part(part);
    }
    const refusal = textAt(delta, "refusal");
    if (refusal !== undefined) {
      this.#refused = true;
      this.#speech.say("refusal", refusal);
    }
    for (const image of objectsAt(delta, "images")) this.#image(textAt(objectAt(image, "image_url"), "url"));
    for (const annotation of objectsAt(delta, "annotations"))
      this.#citation(objectAt(annotation, "url_citation"));
    const calls = [delta.tool_calls ?? []].flat().filter(isJsonObject);
    for (const [at, piece] of calls.entries()) this.#calls.add(piece, at);
    // The predecessor of `tool_calls`.
    if (isJsonObject(delta.function_call)) this.#calls.add({ index: 0, function: delta.function_call }, 0);
  }

  #reasoning(delta: JsonObject): void {
    const details = objectsAt(delta, "reasoning_details");
    const added = details.map((detail) => this.#details.add(detail)).join("");
    const field = REASONING_FIELDS.find((name) => textAt(delta, name) !== undefined);
    if (field !== undefined) this.#reasoningField = field;
    const text = field === undefined ? added : (textAt(delta, field) ?? "");
    // A signature, or encrypted reasoning, may arrive without text.
    if (text !== "" || (details.length > 0 && this.#speech.open !== "thinking")) this.#think(text);
  }

  #think(text: string): void {
    // Whitespace before the first reasoning is not part of the answer.
    if (this.#content.trim() === "") this.#tags?.end(false);
    else this.#speakTagged(this.#tags?.end(false) ?? []);
    this.#speech.say("thinking", text);
  }

  #text(text: string): void {
    if (text === "") return;
    this.#content += text;
    this.#pieces++;
    if (this.#tags === undefined || this.#reasoningField !== undefined) this.#speak(text);
    else this.#speakTagged(this.#tags.push(text));
  }

  #speak(text: string): void {
    const passed = this.#textCalls?.push(text) ?? text;
    if (passed !== "") this.#speech.say("text", passed);
  }

  /** @param complete passed with the last pieces */
  #speakTagged(pieces: readonly TaggedPiece[], complete = false): void {
    for (const piece of pieces) {
      if ("became" in piece) this.#convert(piece.became, complete);
      else if (piece.kind === "text") {
        this.#taggedReasoning = "";
        this.#speak(piece.text);
      } else {
        this.#taggedReasoning += piece.text;
        this.#speech.say(piece.kind, piece.text);
      }
    }
  }

  #convert(kind: "text" | "thinking", complete: boolean): void {
    if (kind === "text" && complete && this.#textCalls !== undefined) {
      // No calls were searched for while the text was considered reasoning. Text before the calls remains reasoning.
      this.#textCalls.push(this.#taggedReasoning);
      const { calls } = this.#textCalls.end(true);
      if (calls.length > 0) {
        this.#speech.end();
        for (const { name, argsText } of calls) this.#calls.addWhole(name, argsText);
        return;
      }
    }
    this.#speech.endAs(kind);
  }

  /** Reads a content part. Mistral and Databricks send parts when a model thinks or cites. */
  #part(part: JsonObject): void {
    if (part.type !== "thinking" && part.type !== "reasoning") {
      this.#text(textAt(part, "text") ?? "");
      return;
    }
    this.#signature = textAt(part, "signature") ?? this.#signature;
    this.#reasoningField = "thinking";
    for (const piece of [part.thinking ?? part.reasoning ?? part.text ?? [], part.summary ?? []].flat()) {
      const text =
        typeof piece === "string" ? piece : isJsonObject(piece) ? textAt(piece, "text") : undefined;
      if (text) this.#think(text);
    }
  }

  /** Returns the data that the server requires back with a thinking block. */
  #thinkingData(): JsonObject {
    const details = this.#details.take();
    const signature = this.#signature;
    this.#signature = undefined;
    return {
      field: this.#reasoningField ?? "think",
      reasoning_details: details.length > 0 ? details : undefined,
      ...withoutUndefined({ signature }),
    };
  }

  /** @param complete false if the answer was truncated or a tool call follows */
  #endSpeech(complete: boolean): void {
    this.#speakTagged(this.#tags?.end(complete) ?? [], complete);
    const { text = "", calls = [] } = this.#textCalls?.end(complete) ?? {};
    if (text !== "") this.#speech.say("text", text);
    this.#speech.end();
    for (const { name, argsText } of calls) this.#calls.addWhole(name, argsText);
  }

  #image(url: string | undefined): void {
    if (url === undefined) return;
    const [, mimeType = "image/*", data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    const source = data === undefined ? { kind: "url" as const, url } : { kind: "base64" as const, data };
    this.#extras.push({ type: "image", mimeType, source });
  }

  #citation(cited: JsonObject): void {
    const url = textAt(cited, "url");
    if (url === undefined) return;
    const text = textAt(cited, "content") ?? "";
    this.#extras.push({
      type: "citation",
      text,
      url,
      ...withoutUndefined({ title: textAt(cited, "title") }),
    });
  }

  #end(reason: string): void {
    if (MALFORMED_CALL.test(normalizeReason(reason))) {
      this.#turn.fail(failure("protocol", `The model stopped with ${reason}.`));
      return;
    }
    const word = entryOf(SERVER_FAULTS, normalizeReason(reason));
    if (word !== undefined) {
      this.#turn.fail(classify({ message: `The server stopped the model: ${reason}`, words: [word] }));
      return;
    }
    // Several servers send `stop` after tool calls, and one sends `tool_calls` without any calls.
    const usual = this.#calls.count > 0 ? "tool_use" : this.#refused ? "refusal" : "end_turn";
    const stop = entryOf(STOP, normalizeReason(reason)) ?? usual;
    if (stop === "context_overflow") {
      this.#turn.fail(failure("overflow", "The conversation filled the model's context window."));
      return;
    }
    if (stop !== "max_tokens") this.#calls.closeAll();
    this.#turn.finish(stop, reason);
  }
}

/** The delta fields that carry reasoning. */
const REASONING_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/**
 * Minimum length of a text that is recognized as a repetition, in UTF-16 code units. A shorter text may be repeated on
 * purpose.
 */
const MIN_REPEATED_LENGTH = 16;

function withoutReasoning(message: JsonObject): JsonObject {
  const fields: readonly string[] = [...REASONING_FIELDS, "reasoning_details"];
  return Object.fromEntries(Object.entries(message).filter(([name]) => !fields.includes(name)));
}

/** Servers write finish reasons in upper and lower case, with underscores, hyphens and spaces. */
function normalizeReason(reason: string): string {
  return reason.toLowerCase().replace(/[-\s]+/g, "_");
}

/**
 * Returns the stop reason. OpenRouter may send `tool_calls` or `stop` for an answer that was truncated at the output
 * limit. `native_finish_reason` contains the reason from the model's host.
 */
function finishReason(choice: JsonObject): string | undefined {
  const given = textAt(choice, "finish_reason");
  // Some servers send the missing finish reason of a delta as a string.
  const reason = given === "null" || given === "None" ? undefined : given;
  const native = textAt(choice, "native_finish_reason");
  const isCut = native !== undefined && entryOf(STOP, normalizeReason(native)) === "max_tokens";
  return reason !== undefined && isCut ? native : reason;
}

/** Returns the failure reported by a chunk, or by a JSON body with status 200. */
function readFailure(chunk: JsonObject): Failure | undefined {
  const { error } = chunk;
  if (isJsonObject(error)) return classify(readError(error));
  if (error !== undefined && error !== null)
    return classify({ message: typeof error === "string" ? error : JSON.stringify(error) });
  const isError = chunk.object === "error" || chunk.type === "error" || chunk.status === "error";
  if (isError || (chunk.choices === undefined && chunk.usage === undefined)) {
    const message = MESSAGE_FIELDS.map((name) => textAt(chunk, name)).find(Boolean);
    if (isError || message !== undefined) return classify(readError({ ...chunk, message: message ?? null }));
  }
  // MiniMax reports failures in an additional field.
  const base = objectAt(chunk, "base_resp");
  if (!numberAt(base, "status_code")) return undefined;
  return classify({ message: textAt(base, "status_msg") ?? "The server reported an error." });
}

/** Fields in which servers send the message of a failure without an `error` object. */
const MESSAGE_FIELDS = ["message", "msg", "error_msg", "error_message", "detail"] as const;

/** Maximum length of a quote from an unknown body, in UTF-16 code units. */
const MAX_QUOTE_LENGTH = 300;

/** Gemini's finish reasons for a call that it rejected itself. The answer is then empty. */
const MALFORMED_CALL = /malformed_function_call|malformed_tool_call|unexpected_tool_call/;

/** Finish reasons that report a failure of the server, with their error words. */
const SERVER_FAULTS: Readonly<Record<string, string>> = {
  insufficient_system_resource: "overloaded_error",
  error: "server_error",
  abort: "server_error",
  network_error: "server_error",
  timeout: "timeout_error",
};

const STOP: Readonly<Record<string, StopReason>> = {
  length: "max_tokens",
  max_tokens: "max_tokens",
  max_output_tokens: "max_tokens",
  max_new_tokens: "max_tokens",
  max_length: "max_tokens",
  token_limit: "max_tokens",
  model_length: "max_tokens",
  content_filter: "filter",
  content_filtered: "filter",
  sensitive: "filter",
  blocklist: "filter",
  safety: "filter",
  prohibited_content: "filter",
  recitation: "filter",
  refusal: "refusal",
  model_context_window_exceeded: "context_overflow",
};
