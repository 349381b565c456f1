import { isRaw, type Raw } from "../raw.ts";
import {
  checkImageUrl,
  checkJsonWord,
  checkToolSchema,
  closed,
  isReasoningModel,
  OpenAIRefusal,
} from "./wire.ts";

const TOP = new Set(
  `audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens messages metadata
  modalities model moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention
  reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature
  tool_choice tools top_logprobs top_p user verbosity web_search_options`.split(/\s+/),
);
const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(["role", "content", "name"]),
  developer: new Set(["role", "content", "name"]),
  user: new Set(["role", "content", "name"]),
  assistant: new Set([
    "role",
    "content",
    "name",
    "tool_calls",
    "refusal",
    "audio",
    "function_call",
    "annotations",
  ]),
  tool: new Set(["role", "content", "tool_call_id"]),
};
const PARTS: Readonly<Record<string, readonly string[]>> = {
  system: ["text"],
  developer: ["text"],
  tool: ["text"],
  assistant: ["text", "refusal"],
  user: ["text", "image_url", "input_audio", "file"],
};
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** OpenAI's limit on tools in a request. */
const MAX_TOOLS = 128;

/** Differences between a server's chat endpoint and OpenAI's. */
export interface ChatDialect {
  /** Refused parameters: a top-level name (`stream_options`), `role:developer`, or `tools.strict`. */
  readonly refuses?: readonly string[];
  /** Further accepted properties: top-level names, or `assistant.reasoning_content` for a property of messages. */
  readonly accepts?: readonly string[];
  /** Vendor whose rule for reasoning applies: while thinking is on, turns with tool calls must contain it. */
  readonly requiresReasoning?: "deepseek" | "kimi";
  /** Maximum number of output tokens that the model supports. */
  readonly maxOutputTokens?: number;
}

/** Throws for requests that `/v1/chat/completions` refuses. */
export function checkChat(body: Raw, dialect: ChatDialect): void {
  const accepts = new Set(dialect.accepts ?? []);
  for (const key of Object.keys(body)) {
    if (!TOP.has(key) && !accepts.has(key)) {
      throw new OpenAIRefusal(400, `Unrecognized request argument supplied: ${key}`);
    }
    if (dialect.refuses?.includes(key)) unsupported(key);
  }
  const model = body.model;
  if (typeof model !== "string") throw new OpenAIRefusal(400, "you must provide a model parameter");
  checkParameters(body, model, accepts);
  checkTools(body, dialect);
  if (!Array.isArray(body.messages)) {
    throw new OpenAIRefusal(400, "Missing required parameter: 'messages'.", {
      param: "messages",
      code: "missing_required_parameter",
    });
  }
  if (body.messages.length === 0) {
    throw new OpenAIRefusal(
      400,
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      {
        param: "messages",
        code: "empty_array",
      },
    );
  }
  checkMessages(body.messages, dialect, accepts);
  checkReasoning(body, body.messages, dialect);
  checkOutputLimit(body, dialect);
  checkJsonWord(body, "messages", "response_format");
}

function checkReasoning(body: Raw, messages: readonly unknown[], { requiresReasoning }: ChatDialect): void {
  if (requiresReasoning === undefined) return;
  if (isRaw(body.thinking) && body.thinking.type === "disabled") return;
  const missing = messages.findIndex(
    (message) => isRaw(message) && Array.isArray(message.tool_calls) && !message.reasoning_content,
  );
  if (missing < 0) return;
  throw new OpenAIRefusal(
    400,
    requiresReasoning === "deepseek"
      ? "The `reasoning_content` in the thinking mode must be passed back to the API."
      : `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${missing}`,
  );
}

function checkOutputLimit(body: Raw, { maxOutputTokens }: ChatDialect): void {
  const asked = Number(body.max_completion_tokens ?? body.max_tokens ?? 0);
  if (maxOutputTokens === undefined || asked <= maxOutputTokens) return;
  throw new OpenAIRefusal(
    400,
    `max_tokens is too large: ${asked}. This model supports at most ${maxOutputTokens} completion tokens, whereas you provided ${asked}.`,
    { param: "max_tokens", code: "invalid_value" },
  );
}

function unsupported(name: string, instead?: string): never {
  const hint = instead ? ` Use '${instead}' instead.` : "";
  throw new OpenAIRefusal(400, `Unsupported parameter: '${name}' is not supported with this model.${hint}`, {
    param: name,
    code: "unsupported_parameter",
  });
}

function checkParameters(body: Raw, model: string, accepts: ReadonlySet<string>): void {
  if (isReasoningModel(model) && !accepts.has("max_tokens")) {
    if (body.max_tokens !== undefined) unsupported("max_tokens", "max_completion_tokens");
    if (body.stop !== undefined) unsupported("stop");
    if (body.temperature !== undefined && body.temperature !== 1) {
      throw new OpenAIRefusal(
        400,
        `Unsupported value: 'temperature' does not support ${JSON.stringify(body.temperature)} with this model. Only the default (1) value is supported.`,
        { param: "temperature", code: "unsupported_value" },
      );
    }
  } else if (body.reasoning_effort !== undefined && !accepts.has("reasoning_effort")) {
    throw new OpenAIRefusal(400, "Unrecognized request argument supplied: reasoning_effort");
  }
  if (typeof body.temperature === "number" && (body.temperature < 0 || body.temperature > 2)) {
    const low = body.temperature < 0;
    throw new OpenAIRefusal(
      400,
      `Invalid 'temperature': decimal ${low ? "below minimum" : "above maximum"} value. Expected a value ${low ? ">= 0" : "<= 2"}, but got ${body.temperature} instead.`,
      { param: "temperature", code: low ? "decimal_below_min_value" : "decimal_above_max_value" },
    );
  }
  if (body.stream_options !== undefined && body.stream !== true) {
    throw new OpenAIRefusal(400, "The 'stream_options' parameter is only allowed when 'stream' is enabled.", {
      param: "stream_options",
    });
  }
  if (Array.isArray(body.stop) && body.stop.length > 4) {
    throw new OpenAIRefusal(
      400,
      `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${body.stop.length} instead.`,
      { param: "stop", code: "array_above_max_length" },
    );
  }
}

function checkTools(body: Raw, dialect: ChatDialect): void {
  const tools = body.tools;
  if (tools === undefined) {
    for (const name of ["tool_choice", "parallel_tool_calls"]) {
      if (body[name] === undefined || body[name] === "none") continue;
      throw new OpenAIRefusal(
        400,
        `Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`,
        {
          param: name,
        },
      );
    }
    return;
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new OpenAIRefusal(400, "Invalid 'tools': empty array. Expected an array with minimum length 1.", {
      param: "tools",
      code: "empty_array",
    });
  }
  const names = new Set<string>();
  if (tools.length > MAX_TOOLS) {
    throw new OpenAIRefusal(
      400,
      `Invalid 'tools': array too long. Expected an array with maximum length ${MAX_TOOLS}, but got an array with length ${tools.length} instead.`,
      { param: "tools", code: "array_above_max_length" },
    );
  }
  for (const [i, tool] of tools.entries()) {
    const fn: unknown = isRaw(tool) ? tool.function : undefined;
    if (!isRaw(tool) || tool.type !== "function" || !isRaw(fn)) {
      throw new OpenAIRefusal(400, `Missing required parameter: 'tools[${i}].function'.`, {
        param: `tools[${i}].function`,
        code: "missing_required_parameter",
      });
    }
    closed(fn, new Set(["name", "description", "parameters", "strict"]), `tools[${i}].function`);
    if (dialect.refuses?.includes("tools.strict") && fn.strict !== undefined)
      unsupported(`tools[${i}].function.strict`);
    if (typeof fn.name !== "string" || !TOOL_NAME.test(fn.name)) {
      throw new OpenAIRefusal(
        400,
        `Invalid 'tools[${i}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        { param: `tools[${i}].function.name`, code: "invalid_value" },
      );
    }
    if (isRaw(fn.parameters)) checkToolSchema(fn.name, fn.parameters, `tools[${i}].function.parameters`);
    names.add(fn.name);
  }
  const choice = body.tool_choice;
  const wanted = isRaw(choice) && isRaw(choice.function) ? choice.function.name : undefined;
  if (typeof wanted === "string" && !names.has(wanted)) {
    throw new OpenAIRefusal(
      400,
      `Invalid value for 'tool_choice': no function named '${wanted}' was specified in the 'tools' parameter.`,
      {
        param: "tool_choice",
      },
    );
  }
}

function checkMessages(
  messages: readonly unknown[],
  dialect: ChatDialect,
  accepts: ReadonlySet<string>,
): void {
  let open = new Set<string>();
  let openAt = 0;
  const settle = (): void => {
    if (open.size === 0) return;
    throw new OpenAIRefusal(
      400,
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(", ")}`,
      { param: `messages.[${openAt}].role` },
    );
  };
  for (const [i, message] of messages.entries()) {
    const role = isRaw(message) && typeof message.role === "string" ? message.role : "";
    const known = Object.hasOwn(KEYS, role) ? KEYS[role] : undefined;
    if (!isRaw(message) || !known) {
      throw new OpenAIRefusal(
        400,
        `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        { param: `messages[${i}].role`, code: "invalid_value" },
      );
    }
    if (dialect.refuses?.includes(`role:${role}`)) {
      throw new OpenAIRefusal(
        400,
        `Unsupported value: 'messages[${i}].role' does not support '${role}' with this model.`,
        {
          param: `messages[${i}].role`,
          code: "unsupported_value",
        },
      );
    }
    for (const key of Object.keys(message)) {
      if (known.has(key) || accepts.has(`${role}.${key}`)) continue;
      throw new OpenAIRefusal(400, `Unknown parameter: 'messages[${i}].${key}'.`, {
        param: `messages[${i}].${key}`,
        code: "unknown_parameter",
      });
    }
    if (role === "tool") {
      const id = message.tool_call_id;
      if (typeof id !== "string" || !open.delete(id)) {
        throw new OpenAIRefusal(
          400,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          { param: `messages.[${i}].role` },
        );
      }
    } else {
      settle();
    }
    checkContent(message, role, i, accepts);
    if (role === "assistant" && message.tool_calls !== undefined) {
      open = checkCalls(message.tool_calls, i);
      openAt = i;
    }
  }
  settle();
}

function checkContent(message: Raw, role: string, i: number, accepts: ReadonlySet<string>): void {
  const content = message.content;
  if (typeof content === "string") return;
  const bare = role === "assistant" && (message.tool_calls !== undefined || message.refusal !== undefined);
  if ((content === null || content === undefined) && bare) return;
  if (!Array.isArray(content) || content.length === 0) {
    throw new OpenAIRefusal(
      400,
      `Invalid value for 'content': expected a string, got ${content === undefined ? "nothing" : JSON.stringify(content)}.`,
      {
        param: `messages.[${i}].content`,
      },
    );
  }
  for (const [j, part] of content.entries()) {
    const type = isRaw(part) && typeof part.type === "string" ? part.type : "";
    if (type === "image_url" && role === "tool" && !accepts.has("tool.image_url")) {
      throw new OpenAIRefusal(
        400,
        `Invalid 'messages[${i}]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL.`,
        { param: `messages[${i}]`, code: "invalid_value" },
      );
    }
    if (!isRaw(part) || !(PARTS[role]?.includes(type) || accepts.has(`${role}.${type}`))) {
      throw new OpenAIRefusal(
        400,
        `Invalid value: '${type}'. Supported values are: ${PARTS[role]?.map((name) => `'${name}'`).join(", ")}.`,
        {
          param: `messages[${i}].content[${j}].type`,
          code: "invalid_value",
        },
      );
    }
    if (type === "image_url") {
      checkImageUrl(
        isRaw(part.image_url) ? part.image_url.url : undefined,
        `messages[${i}].content[${j}].image_url.url`,
      );
    }
  }
}

function checkCalls(calls: unknown, i: number): Set<string> {
  const ids = new Set<string>();
  if (!Array.isArray(calls) || calls.length === 0) {
    throw new OpenAIRefusal(
      400,
      `Invalid 'messages[${i}].tool_calls': empty array. Expected an array with minimum length 1.`,
      {
        param: `messages[${i}].tool_calls`,
        code: "empty_array",
      },
    );
  }
  for (const [j, call] of calls.entries()) {
    const fn: unknown = isRaw(call) ? call.function : undefined;
    if (!isRaw(call) || typeof call.id !== "string" || !isRaw(fn) || typeof fn.arguments !== "string") {
      throw new OpenAIRefusal(
        400,
        `Missing required parameter: 'messages[${i}].tool_calls[${j}].function.arguments'.`,
        {
          param: `messages[${i}].tool_calls[${j}].function.arguments`,
          code: "missing_required_parameter",
        },
      );
    }
    if (typeof fn.name !== "string" || !TOOL_NAME.test(fn.name)) {
      throw new OpenAIRefusal(
        400,
        `Invalid 'messages[${i}].tool_calls[${j}].function.name': string does not match pattern.`,
        {
          param: `messages[${i}].tool_calls[${j}].function.name`,
          code: "invalid_value",
        },
      );
    }
    if (call.id.length > 64) {
      throw new OpenAIRefusal(
        400,
        `Invalid 'messages[${i}].tool_calls[${j}].id': string too long. Expected a string with maximum length 64, but got a string with length ${call.id.length} instead.`,
        { param: `messages[${i}].tool_calls[${j}].id`, code: "string_above_max_length" },
      );
    }
    ids.add(call.id);
  }
  return ids;
}
