import type { Message, ModelContext, StreamModel, StreamOptions } from "@signalbox/agent-core";
import { wireTools } from "../adapt/names.ts";
import type { Provider, ProviderConfig } from "../provider.ts";
import { FailureError, failure } from "../stream/errors.ts";
import { SseParser } from "../stream/sse.ts";
import { modelTurn } from "../stream/turn.ts";
import { type Answer, openClient, type PostMessages } from "./client.ts";
import { AnswerReader } from "./read.ts";
import { RequestBuilder } from "./request.ts";

/**
 * Thinking belongs to the conversation it was thought in: where a host has shortened or edited the history, newer
 * models refuse what is left of it. Losing the thinking is better than losing the conversation.
 */
function refusesThinking(error: unknown): boolean {
  return (
    error instanceof FailureError &&
    error.failure.status === 400 &&
    /\bthinking\b[\s\S]*\bblocks?\b|`thinking`|signature/i.test(error.failure.message)
  );
}

function hasThinking(message: Message): boolean {
  return message.role === "assistant" && message.content.some((block) => block.type === "thinking");
}

function withoutThinking(context: ModelContext): ModelContext {
  const messages = context.messages.map((message) =>
    message.role === "assistant"
      ? { ...message, content: message.content.filter((block) => block.type !== "thinking") }
      : message,
  );
  return { ...context, messages };
}

/** Anthropic's Messages API (and the servers that speak it) for one account, through the vendor's SDK. */
export function connectAnthropic(config: ProviderConfig): StreamModel {
  const builder = new RequestBuilder();
  let client: Promise<PostMessages> | undefined;
  let opened: PostMessages | undefined;
  const open = async (): Promise<PostMessages> => {
    if (config.apiKey === undefined && config.baseUrl === undefined)
      throw new FailureError(failure("auth", "No API key is set for Anthropic."));
    client ??= openClient(config);
    opened = await client;
    return opened;
  };

  return (model, given, options = {}) => {
    const { tools, names } = wireTools(model.api, given.tools);
    const context = names === undefined ? given : { ...given, tools };
    return modelTurn({ model, options, timeouts: config.timeouts, now: config.now, names }, async (turn) => {
      const post = opened ?? (await open());
      const warn = (code: string, message: string): void => turn.warn(code, message);
      const ask = (asked: ModelContext, how: StreamOptions): Promise<Answer> =>
        post(builder.build(model, asked, how, warn), turn.signal);
      let answer: Answer;
      try {
        answer = await ask(context, options);
      } catch (error) {
        if (!refusesThinking(error) || !context.messages.some(hasThinking)) throw error;
        warn(
          "thinking.dropped",
          "The vendor refused the thinking in the history: it was asked again without.",
        );
        answer = await ask(withoutThinking(context), { ...options, thinking: "off" });
      }
      turn.start(answer.requestId);
      const reader = new AnswerReader(turn, model);
      const sse = new SseParser(reader.event);
      return answer.read(
        (chunk) => sse.push(chunk),
        () => {
          sse.end();
          reader.end();
        },
      );
    });
  };
}

/** The wire format `anthropic-messages`. */
export const anthropicMessages: Provider = { api: "anthropic-messages", connect: connectAnthropic };
