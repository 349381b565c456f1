import { isJsonObject, type JsonObject, type StopReason } from "@signalbox/agent-core";
import { classify, type FailureFacts, failure, NO_MESSAGE } from "../failure/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import {
  countAt,
  entryOf,
  numberAt,
  objectAt,
  objectsAt,
  parseEvent,
  textAt,
  unlessEmpty,
  withoutUndefined,
} from "../shared/json.ts";
import { Speech } from "../shared/speech.ts";
import type { TurnWriter } from "../turn/record.ts";
import { PartialArgs } from "./partial-args.ts";

/** Reads the chunks of `streamGenerateContent`. The answer is known to be complete only when the body ends. */
export class GoogleReader implements EventReader {
  readonly #turn: TurnWriter;
  readonly #speech: Speech;
  /** The signature of the open block. */
  #signature: string | undefined;
  #streamed: { index: number; args: PartialArgs; data: JsonObject | undefined } | undefined;
  #finish: string | undefined;
  #finishMessage: string | undefined;
  #blocked: string | undefined;
  #calls = 0;
  #usage: JsonObject | undefined;
  #grounding: JsonObject | undefined;

  constructor(turn: TurnWriter) {
    this.#turn = turn;
    // Thinking gets native data even without a signature, to mark it as this model's own.
    this.#speech = new Speech(turn, (spoken) => {
      const data = withoutUndefined({ thoughtSignature: this.#signature });
      this.#signature = undefined;
      return spoken === "thinking" ? data : unlessEmpty(data);
    });
  }

  data(text: string): void {
    for (const chunk of parseEvent(text)) this.#read(chunk);
  }

  #read(chunk: JsonObject): void {
    this.#chunk(chunk);
    const { usageMetadata: usage } = chunk;
    if (!isJsonObject(usage)) return;
    this.#usage = usage;
    // The first chunk with text reports the tokens of hidden thinking, which is charged even if the rest is never read.
    if (countAt(usage, "candidatesTokenCount") !== undefined) this.#reportUsage(usage);
  }

  wireEnded(broken: boolean): void {
    const reason = this.#finish ?? this.#blocked;
    if (reason === undefined || broken || this.#turn.ended) return;
    this.#speech.end();
    this.#endStreamed(false);
    for (const source of objectsAt(this.#grounding ?? {}, "groundingChunks"))
      this.#citation(objectAt(source, "web"));
    if (this.#usage !== undefined) this.#reportUsage(this.#usage);
    const said = this.#finish === undefined ? "filter" : entryOf(STOP, reason.toUpperCase());
    const stop = said === "end_turn" && this.#calls > 0 ? "tool_use" : said;
    if (stop !== undefined) this.#turn.finish(stop, reason);
    else this.#turn.fail(failure("protocol", this.#finishMessage ?? `The model stopped with ${reason}.`));
  }

  #chunk(chunk: JsonObject): void {
    if (isJsonObject(chunk.error)) {
      this.#turn.fail(classify(readError(chunk.error)));
      return;
    }
    this.#turn.responseId(textAt(chunk, "responseId"));
    this.#blocked = textAt(objectAt(chunk, "promptFeedback"), "blockReason") ?? this.#blocked;
    const candidates = objectsAt(chunk, "candidates");
    const candidate = candidates.find(({ index = 0 }) => index === 0);
    if (candidate === undefined) return;
    for (const part of objectsAt(objectAt(candidate, "content"), "parts")) this.#part(part);
    if (isJsonObject(candidate.groundingMetadata)) this.#grounding = candidate.groundingMetadata;
    this.#finishMessage = textAt(candidate, "finishMessage") ?? this.#finishMessage;
    this.#finish = textAt(candidate, "finishReason") ?? this.#finish;
  }

  #part(part: JsonObject): void {
    const signature = textAt(part, "thoughtSignature");
    if (isJsonObject(part.functionCall)) this.#call(part.functionCall, signature);
    else if (typeof part.text === "string") this.#text(part.text, part.thought === true, signature);
    else if (isJsonObject(part.inlineData)) this.#media(part.inlineData, signature);
    else {
      this.#speech.end();
      this.#opaque(part);
    }
  }

  #text(text: string, thought: boolean, signature: string | undefined): void {
    if (text !== "") this.#speech.say(thought ? "thinking" : "text", text);
    if (signature === undefined) return;
    // A signature without text belongs to the preceding text.
    if (this.#speech.open === undefined) {
      this.#opaque({ text: "", thoughtSignature: signature, thought: thought || undefined });
      return;
    }
    this.#signature = signature;
    this.#speech.end();
  }

  #call(call: JsonObject, signature: string | undefined): void {
    const name = textAt(call, "name");
    if (name === undefined && this.#streamed !== undefined) {
      this.#streamed.args.add(call);
      if (call.willContinue !== true) this.#endStreamed(true);
      return;
    }
    this.#speech.end();
    this.#endStreamed(false);
    const own = textAt(call, "id");
    const id = own ?? this.#turn.callId(this.#calls);
    this.#calls++;
    const index = this.#turn.open({ type: "toolCall", id, name: name ?? "" });
    const data = unlessEmpty(withoutUndefined({ id: own, thoughtSignature: signature }));
    if (call.willContinue === true) {
      this.#streamed = { index, args: new PartialArgs(), data };
      this.#streamed.args.add(call);
      return;
    }
    const args = call.args ?? {};
    this.#turn.append(index, typeof args === "string" ? args : JSON.stringify(args));
    this.#turn.close(index, data);
  }

  #endStreamed(complete: boolean): void {
    const streamed = this.#streamed;
    if (streamed === undefined) return;
    this.#streamed = undefined;
    this.#turn.append(streamed.index, streamed.args.text(complete));
    this.#turn.close(streamed.index, streamed.data);
  }

  #media(blob: JsonObject, signature: string | undefined): void {
    this.#speech.end();
    const mimeType = textAt(blob, "mimeType") ?? "application/octet-stream";
    const native = this.#turn.native(withoutUndefined({ thoughtSignature: signature }));
    const source = { kind: "base64", data: textAt(blob, "data") ?? "" } as const;
    const type = mimeType.startsWith("image/") ? "image" : mimeType.startsWith("audio/") ? "audio" : "file";
    this.#turn.block({ type, mimeType, source, native });
  }

  #opaque(part: JsonObject): void {
    this.#turn.block({ type: "opaque", native: this.#turn.native({ part: part }) });
  }

  #citation(web: JsonObject): void {
    const url = textAt(web, "uri");
    if (url === undefined) return;
    this.#turn.block({
      type: "citation",
      text: "",
      url,
      ...withoutUndefined({ title: textAt(web, "title") }),
    });
  }

  #reportUsage(usage: JsonObject): void {
    this.#turn.tokens({
      input: sumOf(usage, "promptTokenCount", "toolUsePromptTokenCount"),
      cacheRead: countAt(usage, "cachedContentTokenCount"),
      output: sumOf(usage, "candidatesTokenCount", "thoughtsTokenCount"),
      reasoning: countAt(usage, "thoughtsTokenCount"),
    });
  }
}

/** Reads an error object of the API: `{code, message, status, details}`. */
export function readError(error: JsonObject, known: FailureFacts = NO_MESSAGE): FailureFacts {
  const details = objectsAt(error, "details");
  const delay = details
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textAt(detail, "retryDelay") ?? "")?.[1])
    .find(Boolean);
  return {
    ...known,
    message: textAt(error, "message") ?? known.message,
    status: known.status ?? numberAt(error, "code"),
    words: [...details.map((detail) => textAt(detail, "reason")), textAt(error, "status")],
    retryAfterMs: known.retryAfterMs ?? (delay === undefined ? undefined : Math.ceil(Number(delay) * 1000)),
  };
}

/** Returns the sum of the reported counts, or `undefined` if none is reported. */
function sumOf(usage: JsonObject, ...keys: readonly string[]): number | undefined {
  const said = keys.flatMap((key) => countAt(usage, key) ?? []);
  return said.length === 0 ? undefined : said.reduce((total, count) => total + count);
}

/** All other reasons are failures. */
const STOP: Readonly<Record<string, StopReason>> = {
  STOP: "end_turn",
  FINISH_REASON_UNSPECIFIED: "end_turn",
  CONTINUATION: "end_turn",
  MAX_TOKENS: "max_tokens",
  SAFETY: "filter",
  RECITATION: "filter",
  LANGUAGE: "filter",
  BLOCKLIST: "filter",
  PROHIBITED_CONTENT: "filter",
  SPII: "filter",
  IMAGE_SAFETY: "filter",
  IMAGE_PROHIBITED_CONTENT: "filter",
  IMAGE_RECITATION: "filter",
};
