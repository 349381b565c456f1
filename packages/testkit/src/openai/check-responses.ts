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
  `background conversation include input instructions max_output_tokens max_tool_calls metadata model moderation
  parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_retention reasoning safety_identifier
  service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation
  user`.split(/\s+/),
);
const ITEM_KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  message: new Set(["type", "role", "content", "id", "status", "phase"]),
  function_call: new Set(["type", "id", "call_id", "name", "arguments", "status", "namespace"]),
  function_call_output: new Set(["type", "id", "call_id", "output", "status"]),
  reasoning: new Set(["type", "id", "summary", "content", "encrypted_content", "status"]),
  item_reference: new Set(["type", "id"]),
};
const ID_PREFIX: Readonly<Record<string, string>> = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
};
const USER_PARTS = ["input_text", "input_image", "input_file"];
const ASSISTANT_PARTS = ["output_text", "refusal"];

/** Items that the fake server sent, to recognize forged or incomplete ones. */
export interface Issued {
  /** Values of `encrypted_content` that it created. */
  readonly encrypted: Set<string>;
  /** Id of the reasoning item, by the id of the item after it. */
  readonly reasoningOf: Map<string, string>;
}

function refuse(message: string, param: string, code?: string, status = 400): never {
  throw new OpenAIRefusal(status, message, code === undefined ? { param } : { param, code });
}

/** Throws for requests that `/v1/responses` refuses. */
export function checkResponses(body: Raw, issued: Issued): void {
  closed(body, TOP, "");
  const model = body.model;
  if (typeof model !== "string")
    refuse("Missing required parameter: 'model'.", "model", "missing_required_parameter");
  const reasoning = isReasoningModel(model);
  if (reasoning && body.temperature !== undefined) {
    refuse(
      "Unsupported parameter: 'temperature' is not supported with this model.",
      "temperature",
      "unsupported_parameter",
    );
  }
  if (!reasoning && isRaw(body.reasoning) && body.reasoning.effort != null) {
    refuse(
      "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
      "reasoning.effort",
      "unsupported_parameter",
    );
  }
  if (!reasoning && Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content")) {
    refuse("Encrypted content is not supported with this model.", "include");
  }
  if (typeof body.max_output_tokens === "number" && body.max_output_tokens < 16) {
    refuse(
      `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got ${body.max_output_tokens} instead.`,
      "max_output_tokens",
      "integer_below_min_value",
    );
  }
  checkTools(body);
  checkJsonWord(body, "input", "text");
  if (typeof body.input === "string") return;
  if (!Array.isArray(body.input))
    refuse("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  checkInput(body.input, body.store === false, issued);
}

function checkTools(body: Raw): void {
  const tools = body.tools ?? [];
  if (!Array.isArray(tools)) refuse("Invalid type for 'tools': expected an array.", "tools", "invalid_type");
  const names = new Set<unknown>();
  if (tools.length > 128)
    refuse(
      `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
      "tools",
      "array_above_max_length",
    );
  for (const [i, tool] of tools.entries()) {
    if (!isRaw(tool))
      refuse(`Invalid type for 'tools[${i}]': expected an object.`, `tools[${i}]`, "invalid_type");
    if (tool.type !== "function") continue;
    closed(
      tool,
      new Set([
        "type",
        "name",
        "description",
        "parameters",
        "strict",
        "defer_loading",
        "allowed_callers",
        "output_schema",
      ]),
      `tools[${i}]`,
    );
    if (typeof tool.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
      refuse(
        `Invalid 'tools[${i}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `tools[${i}].name`,
        "invalid_value",
      );
    }
    if (tool.strict === undefined && isRaw(tool.parameters) && hasOptional(tool.parameters)) {
      // On this endpoint, `strict` is true by default, and strict schemas have no optional properties.
      refuse(
        `Invalid schema for function '${tool.name}': In context=(), 'required' is required to be supplied and to be an array including every key in properties.`,
        `tools[${i}].parameters`,
        "invalid_function_parameters",
      );
    }
    if (isRaw(tool.parameters)) checkToolSchema(tool.name, tool.parameters, `tools[${i}].parameters`);
    names.add(tool.name);
  }
  const choice = body.tool_choice;
  if (isRaw(choice) && choice.type === "function" && !names.has(choice.name)) {
    refuse(`Tool choice 'function' not found in 'tools' parameter.`, "tool_choice");
  }
  if (choice === "required" && tools.length === 0) {
    refuse("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice");
  }
}

function hasOptional(schema: Raw): boolean {
  const properties = isRaw(schema.properties) ? Object.keys(schema.properties) : [];
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  return properties.some((name) => !required.includes(name));
}

function checkInput(input: readonly unknown[], stateless: boolean, issued: Issued): void {
  const calls = new Set<unknown>();
  const answered = new Set<unknown>();
  for (const [i, item] of input.entries()) {
    if (!isRaw(item))
      refuse(`Invalid type for 'input[${i}]': expected an object.`, `input[${i}]`, "invalid_type");
    const type = typeof item.type === "string" ? item.type : "message";
    const known = Object.hasOwn(ITEM_KEYS, type) ? ITEM_KEYS[type] : undefined;
    if (!known) refuse(`Invalid value: '${type}'.`, `input[${i}].type`, "invalid_value");
    closed(item, known, `input[${i}]`);
    const prefix = Object.hasOwn(ID_PREFIX, type) ? ID_PREFIX[type] : undefined;
    if (prefix && typeof item.id === "string" && !item.id.startsWith(prefix)) {
      refuse(
        `Invalid 'input[${i}].id': '${item.id}'. Expected an ID that begins with '${prefix}'.`,
        `input[${i}].id`,
        "invalid_value",
      );
    }
    if (type === "message") checkMessage(item, i);
    else if (type === "reasoning") checkReasoning(item, input[i + 1], i, stateless, issued);
    else if (type === "function_call") {
      checkCallId(item.call_id, i);
      if (typeof item.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(item.name)) {
        refuse(
          `Invalid 'input[${i}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          `input[${i}].name`,
          "invalid_value",
        );
      }
      if (typeof item.arguments !== "string") {
        refuse(
          `Missing required parameter: 'input[${i}].arguments'.`,
          `input[${i}].arguments`,
          "missing_required_parameter",
        );
      }
      calls.add(item.call_id);
    } else if (type === "function_call_output") {
      checkCallId(item.call_id, i);
      if (!calls.has(item.call_id)) {
        refuse(`No tool call found for function call output with call_id ${String(item.call_id)}.`, "input");
      }
      checkOutput(item.output, i);
      answered.add(item.call_id);
    }
    const before = input[i - 1];
    const needed = typeof item.id === "string" ? issued.reasoningOf.get(item.id) : undefined;
    if (needed !== undefined && !(isRaw(before) && before.type === "reasoning") && !has(input, needed)) {
      refuse(
        `Item '${String(item.id)}' of type '${type}' was provided without its required 'reasoning' item: '${needed}'.`,
        "input",
      );
    }
  }
  for (const id of calls)
    if (!answered.has(id)) refuse(`No tool output found for function call ${String(id)}.`, "input");
}

function has(input: readonly unknown[], id: string): boolean {
  return input.some((item) => isRaw(item) && item.id === id);
}

function checkCallId(id: unknown, i: number): void {
  const param = `input[${i}].call_id`;
  if (typeof id !== "string")
    refuse(`Missing required parameter: '${param}'.`, param, "missing_required_parameter");
  if (id.length > 64) {
    refuse(
      `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${id.length} instead.`,
      param,
      "string_above_max_length",
    );
  }
}

function checkMessage(item: Raw, i: number): void {
  const role = item.role;
  if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer") {
    refuse(
      `Invalid value: '${String(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      `input[${i}].role`,
      "invalid_value",
    );
  }
  if (typeof item.content === "string") return;
  if (!Array.isArray(item.content)) {
    refuse(
      `Missing required parameter: 'input[${i}].content'.`,
      `input[${i}].content`,
      "missing_required_parameter",
    );
  }
  checkParts(item.content, role === "assistant" ? ASSISTANT_PARTS : USER_PARTS, `input[${i}].content`);
}

function checkParts(parts: readonly unknown[], allowed: readonly string[], at: string): void {
  for (const [j, part] of parts.entries()) {
    const type = isRaw(part) ? String(part.type) : "";
    if (!isRaw(part) || !allowed.includes(type)) {
      refuse(
        `Invalid value: '${type}'. Supported values are: ${allowed.map((name) => `'${name}'`).join(", ")}.`,
        `${at}[${j}].type`,
        "invalid_value",
      );
    }
    if (type === "input_image") checkImageUrl(part.image_url, `${at}[${j}].image_url`);
  }
}

function checkOutput(output: unknown, i: number): void {
  if (typeof output === "string") return;
  if (!Array.isArray(output)) {
    refuse(
      `Missing required parameter: 'input[${i}].output'.`,
      `input[${i}].output`,
      "missing_required_parameter",
    );
  }
  checkParts(output, USER_PARTS, `input[${i}].output`);
}

function checkReasoning(item: Raw, following: unknown, i: number, stateless: boolean, issued: Issued): void {
  const sealed = item.encrypted_content;
  if (stateless && typeof sealed !== "string") {
    refuse(
      `Item with id '${String(item.id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      "input",
      undefined,
      404,
    );
  }
  if (typeof sealed === "string" && !issued.encrypted.has(sealed)) {
    refuse(
      `The encrypted content ${sealed.slice(0, 8)}... could not be verified.`,
      `input[${i}].encrypted_content`,
      "invalid_encrypted_content",
    );
  }
  const next = isRaw(following) ? following : undefined;
  const fits =
    next?.type === "reasoning" ||
    next?.type === "function_call" ||
    (next?.role === "assistant" && next.content !== undefined);
  if (!fits) {
    refuse(
      `Item '${String(item.id)}' of type 'reasoning' was provided without its required following item.`,
      "input",
    );
  }
}
