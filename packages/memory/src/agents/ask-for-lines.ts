import { type AssistantMessage, type Model, type StreamModel, textOf } from "@signalbox/agent-core";

export interface LineRequest {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly instructions: string;
  readonly content: string;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly timestamp: number;
  /** Of the conversation it is about. */
  readonly sessionId?: string;
}

/** One question to a model, outside of any conversation. What the vendor did is thrown. */
export async function askForLines(request: LineRequest): Promise<AssistantMessage> {
  const { model, stream, instructions, content, maxTokens, signal, timestamp, sessionId } = request;
  const events = stream(
    model,
    { system: { stable: instructions }, messages: [{ role: "user", content, timestamp }], tools: [] },
    {
      signal,
      cache: "none",
      shown: () => false,
      ...(sessionId === undefined ? {} : { sessionId }),
      maxOutputTokens: Math.min(model.maxOutputTokens, maxTokens),
    },
  );
  for await (const event of events) {
    if (event.type === "finish") return event.message;
    if (event.type === "error") throw new Error(`the model gave none: ${event.error.message}`);
  }
  throw new Error("the stream ended before the answer did");
}

/** What stands behind the dashes of an answer's list. */
export function listedIn({ content }: AssistantMessage): string[] {
  return textOf(content)
    .split("\n")
    .flatMap((line) => /^\s*[-*]\s+(\S.*)$/.exec(line)?.[1] ?? []);
}
