import { schemaFaults } from "../tool-schema.ts";
import {
  type Check,
  checkCacheControl,
  checkText,
  type Fields,
  fields,
  Invalid,
  refuse,
  TOOL_NAME,
} from "./blocks.ts";
import { checkMessages, checkPairs, type Turn } from "./messages.ts";

/** An error response in the vendor's format. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const TOP = new Set(
  "model messages max_tokens system tools tool_choice thinking output_config stream temperature top_p top_k stop_sequences metadata service_tier container context_management cache_control inference_geo speed diagnostics mcp_servers".split(
    " ",
  ),
);

function checkTools(body: Fields, turns: readonly Turn[], check: Check): void {
  const { tools, tool_choice: choice } = body;
  const names = new Set<string>();
  if (tools !== undefined) {
    if (!Array.isArray(tools)) refuse("tools: Input should be a valid list");
    tools.forEach((value: unknown, i) => {
      const tool = fields(value) ?? refuse(`tools.${i}: Input should be an object`);
      if (typeof tool.type === "string" && tool.type !== "custom") {
        names.add(String(tool.name));
        return;
      }
      for (const key of Object.keys(tool))
        if (
          !/^(?:type|name|description|input_schema|cache_control|strict|input_examples|eager_input_streaming|defer_loading|allowed_callers)$/.test(
            key,
          )
        )
          refuse(`tools.${i}.custom.${key}: Extra inputs are not permitted`);
      if (typeof tool.name !== "string" || !TOOL_NAME.test(tool.name))
        refuse(`tools.${i}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      const schema = fields(tool.input_schema) ?? refuse(`tools.${i}.custom.input_schema: Field required`);
      if (schema.type !== "object") refuse(`tools.${i}.custom.input_schema.type: Input should be 'object'`);
      checkSchema(schema, `tools.${i}.custom.input_schema`);
      if (names.has(tool.name)) refuse("tools: Tool names must be unique.");
      names.add(tool.name);
      checkCacheControl(tool, `tools.${i}`, check);
    });
  }
  if (names.size === 0) {
    if (choice !== undefined) refuse("tool_choice: tool_choice may only be specified while providing tools");
    if (
      turns.some((turn) =>
        turn.blocks.some((block) => block.type === "tool_use" || block.type === "tool_result"),
      )
    )
      refuse("Requests which include `tool_use` or `tool_result` blocks must define tools.");
  }
  const picked = fields(choice);
  if (choice !== undefined) {
    if (!["auto", "any", "tool", "none"].includes(String(picked?.type)))
      refuse("tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'");
    if (picked?.type === "tool" && !names.has(String(picked.name)))
      refuse(`Tool '${String(picked.name)}' not found in provided tools`);
    if (check.thinking && (picked?.type === "any" || picked?.type === "tool"))
      refuse("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function checkSchema(schema: Fields, path: string): void {
  for (const { kind, path: inner } of schemaFaults(schema)) {
    if (kind === "combinator")
      refuse(`${path}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    if (kind === "property_name")
      refuse(
        `${[path, ...inner].join(".")}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
      );
    if (kind === "invalid")
      refuse(
        `${path}: JSON schema is invalid. It must match JSON Schema draft 2020-12 (https://json-schema.org/draft/2020-12). Learn more about tool use at https://docs.claude.com/en/docs/tool-use.`,
      );
  }
}

function checkThinking(body: Fields, turns: readonly Turn[], thoughtFor: ReadonlySet<string>): void {
  const thinking = fields(body.thinking);
  if (thinking === undefined) return;
  if (!["enabled", "disabled", "adaptive", "between_tools"].includes(String(thinking.type)))
    refuse("thinking: Input tag does not match any of the expected tags: 'enabled', 'disabled', 'adaptive'");
  if (thinking.type === "enabled") {
    const budget = thinking.budget_tokens;
    if (typeof budget !== "number") refuse("thinking.enabled.budget_tokens: Field required");
    if (budget < 1024)
      refuse("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024");
    if (budget >= Number(body.max_tokens))
      refuse(
        "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
      );
  }
  if (thinking.type === "disabled") return;
  if (body.temperature !== undefined && body.temperature !== 1)
    refuse("`temperature` may only be set to 1 when thinking is enabled.");
  if (body.top_k !== undefined) refuse("`top_k` must be unset when thinking is enabled.");
  const open = turns.at(-2);
  if (open?.role !== "assistant" || turns.at(-1)?.role !== "user") return;
  const first = open.blocks[0];
  const calls = open.blocks.filter((block) => block.type === "tool_use");
  if (
    calls.some((call) => thoughtFor.has(String(call.id))) &&
    first?.type !== "thinking" &&
    first?.type !== "redacted_thinking"
  )
    refuse(
      `messages.${turns.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${String(first?.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    );
}

function checkOutput(body: Fields): void {
  if (body.temperature !== undefined && body.top_p !== undefined)
    refuse("`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
  const format = fields(fields(body.output_config)?.format);
  if (format === undefined) return;
  if (format.type !== "json_schema") refuse("output_config.format.type: Input should be 'json_schema'");
  checkOutputSchema(fields(format.schema) ?? refuse("output_config.format.schema: Field required"));
}

function checkOutputSchema(schema: Fields): void {
  if (schema.type === "object" && schema.additionalProperties !== false)
    refuse(
      "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    );
  for (const bound of ["minimum", "maximum", "minLength", "maxLength"])
    if (schema[bound] !== undefined)
      refuse(`output_config.format.schema: For this type, property '${bound}' is not supported`);
  const inner = [...Object.values(fields(schema.properties) ?? {}), schema.items];
  for (const value of inner) {
    const one = fields(value);
    if (one !== undefined) checkOutputSchema(one);
  }
}

function checkSystem(system: unknown, check: Check): void {
  if (system === undefined || typeof system === "string") return;
  if (!Array.isArray(system)) refuse("system: Input should be a valid string or list");
  system.forEach((value: unknown, i) => {
    const block = fields(value) ?? refuse(`system.${i}: Input should be an object`);
    if (block.type !== "text") refuse(`system.${i}.type: Input should be 'text'`);
    for (const key of Object.keys(block))
      if (!["type", "text", "cache_control", "citations"].includes(key))
        refuse(`system.${i}.${key}: Extra inputs are not permitted`);
    checkText(block.text, `system.${i}`);
    checkCacheControl(block, `system.${i}`, check);
  });
}

/**
 * Returns the vendor's refusal of a request body, if any. The wording follows the vendor's where it is known, because
 * clients recognize an overflow only by its wording.
 *
 * @param memory ids of tool calls that the fake server sent after thinking, and whether it accepts any signature
 */
export function refusalOf(
  value: unknown,
  size: { readonly tokens: number; readonly window: number },
  memory: { readonly thoughtFor: ReadonlySet<string>; readonly trustThinking: boolean },
): Refusal | undefined {
  const invalid = (message: string): Refusal => ({ status: 400, type: "invalid_request_error", message });
  const body = fields(value);
  if (body === undefined) return invalid("The request body is not valid JSON: expected an object");
  try {
    for (const key of Object.keys(body)) if (!TOP.has(key)) refuse(`${key}: Extra inputs are not permitted`);
    if (typeof body.model !== "string") refuse("model: Field required");
    const maxTokens = body.max_tokens;
    if (maxTokens === undefined) refuse("max_tokens: Field required");
    if (typeof maxTokens !== "number" || !Number.isInteger(maxTokens) || maxTokens < 1)
      refuse("max_tokens: Input should be greater than or equal to 1");
    const type = fields(body.thinking)?.type;
    const check: Check = {
      cacheControls: 0,
      trustThinking: memory.trustThinking,
      thinking: type === "enabled" || type === "adaptive",
      toolIds: new Set(),
    };
    checkSystem(body.system, check);
    const turns = checkMessages(body.messages, check);
    checkPairs(turns);
    checkTools(body, turns, check);
    checkThinking(body, turns, memory.thoughtFor);
    checkOutput(body);
    if (check.cacheControls > 4)
      refuse(`A maximum of 4 blocks with cache_control may be provided. Found ${check.cacheControls}.`);
    if (size.tokens > size.window)
      refuse(`prompt is too long: ${size.tokens} tokens > ${size.window} maximum`);
    return undefined;
  } catch (error) {
    if (error instanceof Invalid) return invalid(error.message);
    throw error;
  }
}
