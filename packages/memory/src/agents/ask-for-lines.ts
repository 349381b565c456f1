import { type AssistantMessage, type Model, type StreamModel, textOf } from "@signalbox/agent-core";

export interface LineRequest {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly instructions: string;
  readonly content: string;
  readonly maxTokens: number;
  readonly signal: AbortSignal;
  readonly timestamp: number;
  /** The session that the request is about. */
  readonly sessionId?: string;
}

/**
 * Asks a model a single question outside of any conversation.
 *
 * @throws Error if the model fails
 */
export async function askForLines(request: LineRequest): Promise<AssistantMessage> {
  const { model, stream, instructions, content, maxTokens, signal, timestamp, sessionId } = request;
  const events = stream(
    model,
    { system: { stable: instructions }, messages: [{ role: "user", content, timestamp }], tools: [] },
    {
      signal,
      cache: "none",
      shown: () => false,
      sessionId,
      maxOutputTokens: Math.min(model.maxOutputTokens, maxTokens),
    },
  );
  for await (const event of events) {
    if (event.type === "finish") return event.message;
    if (event.type === "error") throw new Error(`The model failed: ${event.error.message}`);
  }
  throw new Error("The model's stream ended without an answer.");
}

/** Returns the items of a Markdown list in a model's answer. */
export function parseListItems({ content }: AssistantMessage): string[] {
  return textOf(content)
    .split("\n")
    .flatMap((line) => /^\s*[-*]\s+(\S.*)$/.exec(line)?.[1] ?? []);
}
