import { type Block, isJsonObject, type JsonObject, type StopReason } from "@signalbox/agent-core";
import type { TokenCounts } from "../cost.ts";
import { classify, type Failure, failure } from "../failure/failure.ts";
import { readError } from "../openai/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import { entryOf, numberAt, objectAt, objectsAt, stated, textAt } from "../shared/json.ts";
import { Speech } from "../shared/speech.ts";
import type { TurnWriter } from "../turn/record.ts";
import { ChatCalls } from "./calls.ts";
import { mergeDetails } from "./reasoning-details.ts";
import { ThinkTags } from "./think-tags.ts";
import { chunkUsage } from "./usage.ts";

export class ChatReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #tags: ThinkTags | undefined;
  readonly #speech: Speech;
  readonly #calls: ChatCalls;
  readonly #details: JsonObject[] = [];
  readonly #extras: Block[] = [];
  #reasoningField: string | undefined;
  #signature: string | undefined;
  #finish: string | undefined;
  #refused = false;
  #usage: TokenCounts | undefined;

  /** @param thinkTags whether reasoning may come as `<think>…</think>` at the start of the text */
  constructor(turn: TurnWriter, thinkTags: boolean) {
    this.#turn = turn;
    this.#speech = new Speech(turn, (spoken) => (spoken === "thinking" ? this.#thoughtData() : undefined));
    this.#calls = new ChatCalls(turn, () => this.#endText());
    this.#tags = thinkTags ? new ThinkTags() : undefined;
  }

  data(text: string): void {
    if (text === "[DONE]") {
      // Some hosts leave the reason out, beside calls and usage that are complete.
      if (this.#usage !== undefined && this.#calls.areWhole()) this.#finish ??= "tool_calls";
      const unsaid = "The server ended the stream without saying why the model stopped.";
      if (this.#finish !== undefined) this.wireEnded();
      else this.#turn.fail(failure("protocol", unsaid));
      return;
    }
    const chunk: unknown = JSON.parse(text);
    if (isJsonObject(chunk)) this.#chunk(chunk, "delta");
  }

  /** An answer in one piece, from a server that does not stream, or one that reports a failure with status 200. */
  whole(text: string): void {
    const answer: unknown = JSON.parse(text);
    if (isJsonObject(answer)) this.#chunk(answer, "message");
  }

  /** The finish reason comes after all that was said: once it is there, a broken connection takes nothing away. */
  wireEnded(): void {
    if (this.#finish === undefined || this.#turn.ended) return;
    this.#endText();
    this.#calls.openAll();
    for (const block of this.#extras) this.#turn.block(block);
    if (this.#usage !== undefined) this.#turn.tokens(this.#usage);
    else this.#turn.estimate();
    this.#end(this.#finish);
  }

  /** @param said the field that holds what the model said, where a server sends both. */
  #chunk(chunk: JsonObject, said: "delta" | "message"): void {
    const failed = failureIn(chunk);
    if (failed !== undefined) {
      this.#turn.fail(failed);
      return;
    }
    this.#turn.responseId(textAt(chunk, "id"));
    this.#usage = chunkUsage(chunk) ?? this.#usage;
    const choices = objectsAt(chunk, "choices");
    const choice = choices.find(({ index }) => index === 0) ?? choices[0];
    if (choice === undefined) return;
    if (isJsonObject(choice.error)) {
      this.#turn.fail(classify(readError(choice.error)));
      return;
    }
    const other = said === "delta" ? "message" : "delta";
    this.#delta(isJsonObject(choice[said]) ? choice[said] : objectAt(choice, other));
    const legacy = textAt(choice, "text");
    if (legacy !== undefined) this.#content(legacy);
    this.#finish = textAt(choice, "finish_reason") ?? this.#finish;
  }

  #delta(delta: JsonObject): void {
    this.#reasoning(delta);
    if (typeof delta.content === "string") this.#content(delta.content);
    else for (const part of objectsAt(delta, "content")) this.#part(part);
    const refusal = textAt(delta, "refusal");
    if (refusal !== undefined) {
      this.#refused = true;
      this.#speech.say("refusal", refusal);
    }
    for (const image of objectsAt(delta, "images")) this.#image(textAt(objectAt(image, "image_url"), "url"));
    for (const annotation of objectsAt(delta, "annotations")) {
      const cited = objectAt(annotation, "url_citation");
      const url = textAt(cited, "url");
      if (url === undefined) continue;
      const text = textAt(cited, "content") ?? "";
      this.#extras.push({ type: "citation", text, url, ...stated({ title: textAt(cited, "title") }) });
    }
    for (const [at, piece] of objectsAt(delta, "tool_calls").entries()) this.#calls.add(piece, at);
  }

  #reasoning(delta: JsonObject): void {
    const details = objectsAt(delta, "reasoning_details");
    this.#details.push(...details);
    for (const field of ["reasoning_content", "reasoning", "reasoning_text"]) {
      const text = textAt(delta, field);
      if (text === undefined) continue;
      this.#reasoningField = field;
      this.#speech.say("thinking", text);
      return;
    }
    for (const detail of details) {
      const text = textAt(detail, "text") ?? textAt(detail, "summary");
      if (text !== undefined) this.#speech.say("thinking", text);
    }
    // A signature or encrypted reasoning may come without any text.
    if (details.length > 0 && this.#speech.open !== "thinking") this.#speech.say("thinking", "");
  }

  #content(text: string): void {
    if (text === "") return;
    if (this.#tags === undefined || this.#reasoningField !== undefined) this.#speech.say("text", text);
    else for (const piece of this.#tags.push(text)) this.#speech.say(piece.kind, piece.text);
  }

  /** Mistral sends content as parts once a model thinks or cites. */
  #part(part: JsonObject): void {
    if (part.type !== "thinking") {
      this.#content(textAt(part, "text") ?? "");
      return;
    }
    this.#signature = textAt(part, "signature") ?? this.#signature;
    this.#reasoningField = "thinking";
    for (const piece of objectsAt(part, "thinking")) {
      const text = textAt(piece, "text");
      if (text !== undefined) this.#speech.say("thinking", text);
    }
  }

  /** What the server wants to see again of what was thought. */
  #thoughtData(): JsonObject {
    const details = mergeDetails(this.#details.splice(0));
    const signature = this.#signature;
    this.#signature = undefined;
    return {
      field: this.#reasoningField ?? "think",
      ...(details.length > 0 && { reasoning_details: details }),
      ...stated({ signature }),
    };
  }

  #endText(): void {
    for (const piece of this.#tags?.end() ?? []) this.#speech.say(piece.kind, piece.text);
    this.#speech.end();
  }

  #image(url: string | undefined): void {
    if (url === undefined) return;
    const [, mimeType = "image/*", data] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    const source = data === undefined ? { kind: "url" as const, url } : { kind: "base64" as const, data };
    this.#extras.push({ type: "image", mimeType, source });
  }

  #end(reason: string): void {
    const words = entryOf(STOPPED, reason);
    if (words !== undefined) {
      this.#turn.fail(classify({ message: `The server stopped the model: ${reason}`, words: [words] }));
      return;
    }
    // Several servers say `stop` after tool calls, and one says `tool_calls` without any.
    const usual = this.#calls.count > 0 ? "tool_use" : this.#refused ? "refusal" : "end_turn";
    const stop = entryOf(STOP, reason) ?? usual;
    if (stop === "context_overflow") {
      this.#turn.fail(failure("overflow", "The conversation filled the model's context window."));
      return;
    }
    if (stop !== "max_tokens") this.#calls.closeAll();
    this.#turn.finish(stop, reason);
  }
}

/** A failure that came in an answer which succeeded by its status. */
function failureIn(chunk: JsonObject): Failure | undefined {
  const { error } = chunk;
  if (isJsonObject(error)) return classify(readError(error));
  if (error !== undefined && error !== null)
    return classify({ message: typeof error === "string" ? error : JSON.stringify(error) });
  if (chunk.object === "error") return classify(readError(chunk));
  // MiniMax says so beside its answer.
  const base = objectAt(chunk, "base_resp");
  if (!numberAt(base, "status_code")) return undefined;
  return classify({ message: textAt(base, "status_msg") ?? "The server reported an error." });
}

/** Words for a turn that the server broke off, as classes of failure. */
const STOPPED: Readonly<Record<string, string>> = {
  insufficient_system_resource: "overloaded_error",
  error: "server_error",
  abort: "server_error",
};

const STOP: Readonly<Record<string, StopReason>> = {
  length: "max_tokens",
  max_tokens: "max_tokens",
  model_length: "max_tokens",
  content_filter: "filter",
  sensitive: "filter",
  model_context_window_exceeded: "context_overflow",
};
