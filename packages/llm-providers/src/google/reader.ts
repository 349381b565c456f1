import type { JsonObject, StopReason } from "@signalbox/agent-core";
import { classify, type FailureFacts, failure, NOTHING_SAID } from "../failure/failure.ts";
import type { EventReader } from "../provider/event-stream.ts";
import { callIdFrom } from "../shared/digest.ts";
import {
  countAt,
  isRaw,
  keepJson,
  numberAt,
  objectAt,
  objectsAt,
  type Raw,
  stated,
  textAt,
} from "../shared/json.ts";
import type { TurnWriter } from "../turn/record.ts";
import { PartialArgs } from "./partial-args.ts";

/**
 * Turns the chunks of `streamGenerateContent` into a turn. There is no last event, and a finish reason may come in
 * several chunks: only the end of the body says that the answer is whole.
 */
export class GoogleReader implements EventReader {
  readonly #turn: TurnWriter;
  #open: { thought: boolean; index: number } | undefined;
  /** A call whose arguments are being streamed. */
  #streamed: { readonly index: number; readonly args: PartialArgs; readonly data: JsonObject } | undefined;
  #responseId: string | undefined;
  #finish: string | undefined;
  #finishMessage: string | undefined;
  #blocked: string | undefined;
  #calls = 0;
  #usage: Raw | undefined;
  #grounding: Raw | undefined;

  constructor(turn: TurnWriter) {
    this.#turn = turn;
  }

  data(text: string): void {
    const chunk: unknown = JSON.parse(text);
    if (!isRaw(chunk)) return;
    this.#chunk(chunk);
    if (isRaw(chunk.usageMetadata)) this.#count(chunk.usageMetadata);
  }

  wireEnded(broken: boolean): void {
    const reason = this.#finish ?? this.#blocked;
    if (reason === undefined || broken || this.#turn.ended) return;
    this.#close();
    this.#endStreamed(false);
    for (const source of objectsAt(this.#grounding ?? {}, "groundingChunks"))
      this.#citation(objectAt(source, "web"));
    if (this.#usage !== undefined) this.#reportUsage(this.#usage);
    const stop = this.#finish === undefined ? "filter" : stopReason(reason, this.#calls > 0);
    if (stop !== undefined) this.#turn.finish(stop, reason);
    else this.#turn.fail(failure("protocol", this.#finishMessage ?? `The model stopped with ${reason}.`));
  }

  #chunk(chunk: Raw): void {
    if (isRaw(chunk.error)) {
      this.#turn.fail(classify(readError(chunk.error)));
      return;
    }
    const id = textAt(chunk, "responseId");
    if (this.#responseId === undefined && id !== undefined) {
      this.#responseId = id;
      this.#turn.responseId(id);
    }
    this.#blocked = textAt(objectAt(chunk, "promptFeedback"), "blockReason") ?? this.#blocked;
    const candidates = objectsAt(chunk, "candidates");
    const candidate = candidates.find(({ index = 0 }) => index === 0);
    if (candidate === undefined) return;
    for (const part of objectsAt(objectAt(candidate, "content"), "parts")) this.#part(part);
    if (isRaw(candidate.groundingMetadata)) this.#grounding = candidate.groundingMetadata;
    this.#finishMessage = textAt(candidate, "finishMessage") ?? this.#finishMessage;
    this.#finish = textAt(candidate, "finishReason") ?? this.#finish;
  }

  #part(part: Raw): void {
    const signature = textAt(part, "thoughtSignature");
    if (isRaw(part.functionCall)) this.#call(part.functionCall, signature);
    else if (typeof part.text === "string") this.#text(part.text, part.thought === true, signature);
    else if (isRaw(part.inlineData)) this.#media(part.inlineData, signature);
    else {
      this.#close();
      this.#opaque(part);
    }
  }

  #text(text: string, thought: boolean, signature: string | undefined): void {
    if (text === "") {
      // A signature may come alone: it belongs to what was said before it.
      if (signature === undefined) return;
      if (this.#open !== undefined) this.#close(signature);
      else this.#opaque({ text: "", thoughtSignature: signature, ...(thought ? { thought } : {}) });
      return;
    }
    if (this.#open?.thought !== thought) {
      this.#close();
      this.#open = { thought, index: this.#turn.open({ type: thought ? "thinking" : "text" }) };
    }
    this.#turn.append(this.#open.index, text);
    if (signature !== undefined) this.#close(signature);
  }

  #close(signature?: string): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    // Unsigned text needs no vendor data; an unsigned thought does, to be known as this model's own.
    const isMarked = signature !== undefined || open.thought;
    this.#turn.close(
      open.index,
      isMarked ? this.#turn.native(stated({ thoughtSignature: signature })) : undefined,
    );
  }

  #call(call: Raw, signature: string | undefined): void {
    const name = textAt(call, "name");
    if (name === undefined && this.#streamed !== undefined) {
      this.#streamed.args.add(call);
      if (call.willContinue !== true) this.#endStreamed(true);
      return;
    }
    this.#close();
    this.#endStreamed(false);
    const own = textAt(call, "id");
    const id = own ?? callIdFrom(this.#responseId, this.#calls);
    this.#calls++;
    const index = this.#turn.open({ type: "toolCall", id, name: name ?? "" });
    const data: JsonObject = { ...stated({ id: own, thoughtSignature: signature }) };
    if (call.willContinue === true) {
      this.#streamed = { index, args: new PartialArgs(), data };
      this.#streamed.args.add(call);
      return;
    }
    const args = call.args ?? {};
    this.#turn.append(index, typeof args === "string" ? args : JSON.stringify(args));
    this.#sealCall(index, data);
  }

  #sealCall(index: number, data: JsonObject): void {
    this.#turn.close(index, Object.keys(data).length > 0 ? this.#turn.native(data) : undefined);
  }

  #endStreamed(complete: boolean): void {
    const streamed = this.#streamed;
    if (streamed === undefined) return;
    this.#streamed = undefined;
    this.#turn.append(streamed.index, streamed.args.text(complete));
    this.#sealCall(streamed.index, streamed.data);
  }

  #media(blob: Raw, signature: string | undefined): void {
    this.#close();
    const mimeType = textAt(blob, "mimeType") ?? "application/octet-stream";
    const native = this.#turn.native(stated({ thoughtSignature: signature }));
    const source = { kind: "base64", data: textAt(blob, "data") ?? "" } as const;
    const type = mimeType.startsWith("image/") ? "image" : mimeType.startsWith("audio/") ? "audio" : "file";
    this.#turn.block({ type, mimeType, source, native });
  }

  #opaque(part: Raw): void {
    this.#turn.block({ type: "opaque", native: this.#turn.native({ part: keepJson(part) }) });
  }

  #citation(web: Raw): void {
    const url = textAt(web, "uri");
    if (url === undefined) return;
    this.#turn.block({ type: "citation", text: "", url, ...stated({ title: textAt(web, "title") }) });
  }

  /** What was thought in silence is counted with the first words, and was used also where no more are waited for. */
  #count(usage: Raw): void {
    this.#usage = usage;
    if (countAt(usage, "candidatesTokenCount") !== undefined) this.#reportUsage(usage);
  }

  #reportUsage(usage: Raw): void {
    const reasoning = countAt(usage, "thoughtsTokenCount");
    this.#turn.tokens({
      input: sum(countAt(usage, "promptTokenCount"), countAt(usage, "toolUsePromptTokenCount")),
      cacheRead: countAt(usage, "cachedContentTokenCount"),
      output: sum(countAt(usage, "candidatesTokenCount"), reasoning),
      reasoning,
    });
  }
}

/** What an `error` object of the API says: `{code, message, status, details}`. */
export function readError(error: Raw, known: FailureFacts = NOTHING_SAID): FailureFacts {
  const details = objectsAt(error, "details");
  const delay = details
    .map((detail) => /^(\d+(?:\.\d+)?)s$/.exec(textAt(detail, "retryDelay") ?? "")?.[1])
    .find(Boolean);
  return {
    message: textAt(error, "message") ?? known.message,
    status: known.status ?? numberAt(error, "code"),
    words: [...details.map((detail) => textAt(detail, "reason")), textAt(error, "status")],
    retryAfterMs: known.retryAfterMs ?? (delay === undefined ? undefined : Math.ceil(Number(delay) * 1000)),
  };
}

/** The sum of what was said; `undefined` where nothing was. */
function sum(...counts: readonly (number | undefined)[]): number | undefined {
  const said = counts.filter((count) => count !== undefined);
  return said.length === 0 ? undefined : said.reduce((total, count) => total + count);
}

/** `undefined` where the word means a failure. */
function stopReason(reason: string, calls: boolean): StopReason | undefined {
  switch (reason) {
    case "STOP":
    case "FINISH_REASON_UNSPECIFIED":
    case "CONTINUATION":
      return calls ? "tool_use" : "end_turn";
    case "MAX_TOKENS":
      return "max_tokens";
    case "SAFETY":
    case "RECITATION":
    case "LANGUAGE":
    case "BLOCKLIST":
    case "PROHIBITED_CONTENT":
    case "SPII":
    case "IMAGE_SAFETY":
    case "IMAGE_PROHIBITED_CONTENT":
    case "IMAGE_RECITATION":
      return "filter";
    default:
      return undefined;
  }
}
