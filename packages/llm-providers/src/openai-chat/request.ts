import type {
  JsonObject,
  JsonOutput,
  ModelContext,
  StreamOptions,
  ThinkingLevel,
} from "@signalbox/agent-core";
import type OpenAI from "openai";
import { PUBLIC_URL } from "../openai/client.ts";
import type { ModelRequest } from "../provider/define-provider.ts";
import { stated } from "../shared/json.ts";
import { atMost, systemText } from "../shared/request.ts";
import { samplingFor } from "../shared/sampling.ts";
import { outputTokens, thinkingLevel } from "../shared/thinking.ts";
import type { Warn } from "../shared/warnings.ts";
import { historyMessages } from "./history.ts";
import { type ChatQuirks, chatQuirks } from "./quirks.ts";

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type Param = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;

/** The body of a chat completion request, in the words of the server it goes to. */
export function buildRequest(request: ModelRequest): Params {
  const { model, context, options, config, warn } = request;
  const quirks = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
  const level = thinkingLevel(model, options, warn);
  if (level !== undefined && options.thinking !== undefined && quirks.thinkingStyle === "none")
    warn(
      "thinking.dropped",
      `Thinking "${options.thinking}" was left out: how this server is told of it is not known (\`quirks.thinkingStyle\`).`,
    );
  const messages = [
    ...systemMessages(context, options, quirks),
    ...historyMessages(context.messages, quirks),
  ];
  if (quirks.cacheControl && options.cache !== "none") markLast(messages, options);
  const params: Params = { model: model.id, messages, stream: true };
  params[quirks.maxTokensField] = outputTokens(model, options, level);
  if (quirks.streamOptions) params.stream_options = { include_usage: true };
  const taken = { temperature: quirks.temperature, topP: quirks.temperature, seed: true };
  const { temperature, topP, seed } = samplingFor(request, options, taken);
  const format = options.json && responseFormat(options.json, quirks, warn);
  Object.assign(params, stated({ temperature, top_p: topP, seed, response_format: format }));
  if (options.stopSequences?.length) {
    if (quirks.stop) params.stop = atMost(options.stopSequences, 4, warn);
    else warn("stop.dropped", `${model.id} takes no stop sequences; they were left out.`);
  }
  if (context.tools.length > 0) addTools(params, context, options, quirks, warn);
  if (quirks.promptCacheKey && options.cache !== "none") {
    if (options.sessionId !== undefined) params.prompt_cache_key = options.sessionId.slice(0, 64);
    if (options.cache === "long") params.prompt_cache_retention = "24h";
  }
  return Object.assign(params, thinkingFields(level, quirks), quirks.body, options.extra);
}

function systemMessages({ system }: ModelContext, options: StreamOptions, quirks: ChatQuirks): Param[] {
  const { stable, volatile } = system;
  const role = quirks.systemRole;
  if (!quirks.cacheControl || options.cache === "none" || stable === "") {
    const text = systemText(system);
    return text === "" ? [] : [{ role, content: text }];
  }
  const parts = [marked(stable, options)];
  if (volatile) parts.push({ type: "text", text: volatile });
  return [{ role, content: parts }];
}

function marked(text: string, options: StreamOptions): OpenAI.ChatCompletionContentPartText {
  const mark: JsonObject =
    options.cache === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
  return Object.assign({ type: "text" as const, text }, { cache_control: mark });
}

/** Marks the last text a person said or a tool gave, so that everything before the model's next word is cached. */
function markLast(messages: Param[], options: StreamOptions): void {
  const at = messages.findLastIndex((message) => message.role === "user" || message.role === "tool");
  const message = messages[at];
  if (message?.role !== "user" && message?.role !== "tool") return;
  const { content } = message;
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const last = parts.findLastIndex((part) => part.type === "text");
  const marks = parts.map((part, i) =>
    i === last && part.type === "text" ? marked(part.text, options) : part,
  );
  messages[at] = Object.assign({}, message, { content: marks });
}

function addTools(
  params: Params,
  context: ModelContext,
  options: StreamOptions,
  quirks: ChatQuirks,
  warn: Warn,
): void {
  params.tools = context.tools.map((tool) => ({
    type: "function",
    function: {
      name: tool.name,
      description: tool.description,
      parameters: { ...tool.inputSchema },
      ...(quirks.strictTools === undefined ? {} : { strict: quirks.strictTools }),
    },
  }));
  if (quirks.parallelToolCalls !== undefined) params.parallel_tool_calls = quirks.parallelToolCalls;
  const choice = options.toolChoice;
  if (choice === undefined || choice === "auto") return;
  if (choice === "none" && !quirks.toolChoice) {
    delete params.tools;
    return;
  }
  if (!quirks.toolChoice) {
    warn("tool_choice.dropped", "This server takes no tool choice; the model decides by itself.");
    return;
  }
  if (typeof choice === "object" && !quirks.namedToolChoice) {
    const { name } = choice;
    const only = params.tools.filter((tool) => tool.type === "function" && tool.function.name === name);
    if (only.length > 0) params.tools = only;
    params.tool_choice = "required";
    return;
  }
  params.tool_choice =
    typeof choice === "object" ? { type: "function", function: { name: choice.name } } : choice;
}

/** What tells the server to answer in JSON, as far as it can be told. */
function responseFormat(
  { name = "answer", schema, strict = false }: JsonOutput,
  { jsonObject, jsonSchema }: ChatQuirks,
  warn: Warn,
): Params["response_format"] {
  // A server that takes only schemas is given one that any object fits.
  if (jsonSchema && (schema !== undefined || !jsonObject))
    return {
      type: "json_schema",
      json_schema: { name, schema: { ...(schema ?? { type: "object" }) }, strict },
    };
  const what = jsonObject ? "of which schema its JSON is to be" : "to answer in JSON";
  if (!jsonObject || schema !== undefined) warn("json.dropped", `This server cannot be told ${what}.`);
  return jsonObject ? { type: "json_object" } : undefined;
}

function thinkingFields(level: ThinkingLevel | undefined, quirks: ChatQuirks): JsonObject {
  if (level === undefined) return {};
  const on = level !== "off";
  const effort = quirks.efforts[level] ?? level;
  switch (quirks.thinkingStyle) {
    case "reasoning_effort":
      return on || quirks.efforts.off !== undefined ? { reasoning_effort: effort } : {};
    case "reasoning":
      return { reasoning: on ? { effort } : { enabled: false } };
    case "thinking":
      return { thinking: { type: on ? "enabled" : "disabled" } };
    case "enable_thinking":
      return { enable_thinking: on };
    case "template":
      return { chat_template_kwargs: { enable_thinking: on } };
    case "none":
      return {};
  }
}
