import type { JsonObject, JsonOutput, SystemPrompt, ThinkingLevel } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { cacheFields, PUBLIC_URL } from "../openai/openai-provider.ts";
import type { ModelRequest } from "../provider/define-provider.ts";
import { withoutUndefined } from "../shared/json.ts";
import {
  askForJson,
  type CacheControl,
  cacheControl,
  mentionJson,
  outputTokens,
  samplingFor,
  stopSequences,
  systemText,
  thinkingLevel,
  toFunction,
} from "../shared/request.ts";
import { historyMessages } from "./history.ts";
import { type ChatQuirks, chatQuirks } from "./quirks.ts";

type Params = OpenAI.ChatCompletionCreateParamsStreaming;
type Param = OpenAI.ChatCompletionMessageParam;
type Part = OpenAI.ChatCompletionContentPart;

export function requestParams(request: ModelRequest): Params {
  const { model, context, options, config, warn } = request;
  const quirks = chatQuirks(model, config.baseUrl ?? PUBLIC_URL);
  const level = thinkingLevel(request);
  if (level !== undefined && options.thinking !== undefined && quirks.thinkingStyle === "none")
    warn(
      "thinking_dropped",
      `Thinking "${options.thinking}" was left out: how this server is told of it is not known (\`quirks.thinkingStyle\`).`,
    );
  const { json } = options;
  const format = json && responseFormat(json, quirks);
  const system = json === undefined ? context.system : jsonSystem(request, json, format);
  const cache = quirks.cacheControl ? cacheControl(options) : undefined;
  const messages = [
    ...systemMessages(system, quirks.systemRole, cache),
    ...historyMessages(context.messages, quirks),
  ];
  if (cache !== undefined) markLast(messages, cache);
  const sent = quirks.alternateRoles ? alternateRoles(messages) : messages;
  const params: Params = {
    model: model.id,
    messages: sent,
    stream: true,
    ...withoutUndefined({
      stream_options: quirks.streamOptions ? { include_usage: true } : undefined,
      response_format: format,
      stop: stopSequences(request, quirks.stop ? 4 : 0),
    }),
    ...samplingFor(request, quirks.temperature ? ["temperature", "top_p", "seed"] : ["seed"]),
    ...toolFields(request, quirks),
    ...(quirks.promptCacheKey && cacheFields(options)),
  };
  params[quirks.maxTokensField] = outputTokens(request, level);
  return Object.assign(params, thinkingFields(level, quirks), quirks.body, options.extra);
}

function systemMessages(system: SystemPrompt, role: "system" | "developer", cache?: CacheControl): Param[] {
  const { stable, volatile } = system;
  if (cache !== undefined && stable !== "") {
    const rest = volatile ? [{ type: "text" as const, text: volatile }] : [];
    return [{ role, content: [marked(stable, cache), ...rest] }];
  }
  const content = systemText(system);
  return content === undefined ? [] : [{ role, content }];
}

/** Makes user and model alternate, for chat templates that require it and have no system role. */
function alternateRoles(messages: readonly Param[]): Param[] {
  const out: Param[] = [];
  for (const message of messages) {
    const isUser = message.role === "system" || message.role === "developer" || message.role === "user";
    const last = out.at(-1);
    if (!isUser) out.push(message);
    else if (last?.role === "user") last.content = joinContents(last.content, message.content);
    else out.push({ role: "user", content: message.content });
  }
  return out;
}

function joinContents(first: string | Part[], second: string | Part[]): string | Part[] {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  const parts = (content: string | Part[]): Part[] =>
    typeof content === "string" ? [{ type: "text", text: content }] : content;
  return [...parts(first), ...parts(second)];
}

function marked(text: string, cache_control: CacheControl): OpenAI.ChatCompletionContentPartText {
  return Object.assign({ type: "text" as const, text }, { cache_control });
}

/** Marks the last text of a user or a tool, so that everything before the model's next turn is cached. */
function markLast(messages: Param[], cache: CacheControl): void {
  const at = messages.findLastIndex((message) => message.role === "user" || message.role === "tool");
  const message = messages[at];
  if (message?.role !== "user" && message?.role !== "tool") return;
  const { content } = message;
  const parts: readonly Part[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const last = parts.findLastIndex((part) => part.type === "text");
  const marks = parts.map((part, i) =>
    i === last && part.type === "text" ? marked(part.text, cache) : part,
  );
  messages[at] = Object.assign({}, message, { content: marks });
}

function toolFields({ context, options, warn }: ModelRequest, quirks: ChatQuirks): Partial<Params> {
  const { toolChoice: choice } = options;
  if (context.tools.length === 0 || (choice === "none" && !quirks.toolChoice)) return {};
  const only = typeof choice === "object" && quirks.toolChoice && !quirks.namedToolChoice;
  const offered = only ? context.tools.filter(({ name }) => name === choice.name) : [];
  const tools = (offered.length > 0 ? offered : context.tools).map((tool) => ({
    type: "function" as const,
    function: { ...toFunction(tool), ...withoutUndefined({ strict: quirks.strictTools }) },
  }));
  const fields = { tools, ...withoutUndefined({ parallel_tool_calls: quirks.parallelToolCalls }) };
  if (choice === undefined || choice === "auto") return fields;
  if (!quirks.toolChoice) {
    warn("tool_choice_dropped", "This server takes no tool choice; the model decides by itself.");
    return fields;
  }
  if (typeof choice !== "object") return { ...fields, tool_choice: choice };
  if (only) return { ...fields, tool_choice: "required" };
  return { ...fields, tool_choice: { type: "function", function: { name: choice.name } } };
}

/** The system prompt. It asks for JSON to the extent that the server's option does not. */
function jsonSystem(
  request: ModelRequest,
  json: JsonOutput,
  format: Params["response_format"],
): SystemPrompt {
  if (format === undefined) return askForJson(request, json);
  if (format.type !== "json_object") return request.context.system;
  return json.schema === undefined ? mentionJson(request) : askForJson(request, json, false);
}

/** The server's option for JSON, or `undefined` if it has none. */
function responseFormat(
  { name = "answer", schema, strict = false }: JsonOutput,
  { jsonObject, jsonSchema }: ChatQuirks,
): Params["response_format"] {
  // A server that accepts only schemas gets one that matches any object.
  if (jsonSchema && (schema !== undefined || !jsonObject))
    return {
      type: "json_schema",
      json_schema: { name, schema: { ...(schema ?? { type: "object" }) }, strict },
    };
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
