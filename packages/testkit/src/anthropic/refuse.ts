import { createHmac, timingSafeEqual } from "node:crypto";

/** A refusal in the vendor's terms. */
export interface Refusal {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

type Fields = Readonly<Record<string, unknown>>;

const SECRET = "stand-in";
const ID = /^[a-zA-Z0-9_-]+$/;
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const TOP = new Set(
  "model messages max_tokens system tools tool_choice thinking output_config stream temperature top_p top_k stop_sequences metadata service_tier container context_management cache_control inference_geo speed diagnostics mcp_servers".split(
    " ",
  ),
);
const BLOCK_KEYS: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "citations"],
  image: ["source"],
  document: ["source", "title", "context", "citations"],
  tool_use: ["id", "name", "input", "caller"],
  tool_result: ["tool_use_id", "content", "is_error"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  server_tool_use: ["id", "name", "input", "caller"],
};

function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** What the stand-in signs thinking with, so that it can tell a changed block on its return. */
export function signThinking(text: string): string {
  return createHmac("sha256", SECRET).update(text).digest("base64");
}

function signatureHolds(text: string, signature: string): boolean {
  const wanted = Buffer.from(signThinking(text));
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

class Invalid extends Error {}

function refuse(message: string): never {
  throw new Invalid(message);
}

/** State of one check of one request. */
interface Check {
  cacheControls: number;
  readonly thinking: boolean;
  readonly trustThinking: boolean;
  readonly toolIds: Set<string>;
}

function checkCacheControl(block: Fields, path: string, check: Check): void {
  const control = block.cache_control;
  if (control === undefined || control === null) return;
  const value = fields(control);
  if (value?.type !== "ephemeral") refuse(`${path}.cache_control.type: Input should be 'ephemeral'`);
  if (value.ttl !== undefined && value.ttl !== "5m" && value.ttl !== "1h")
    refuse(`${path}.cache_control.ttl: Input should be '5m' or '1h'`);
  if (block.type === "thinking" || block.type === "redacted_thinking")
    refuse(`${path}.${String(block.type)}.cache_control: Extra inputs are not permitted`);
  check.cacheControls++;
}

function checkSource(block: Fields, path: string): void {
  const source = fields(block.source) ?? refuse(`${path}.source: Field required`);
  const kind = source.type;
  if (kind === "base64") {
    if (typeof source.data !== "string" || source.data === "")
      refuse(`${path}.source.base64.data: Field required`);
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) refuse(`${path}.source.base64: Invalid base64 data`);
    if (block.type === "image" && !IMAGE_TYPES.includes(String(source.media_type)))
      refuse(
        `${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
      );
    if (block.type === "document" && source.media_type !== "application/pdf")
      refuse(`${path}.document.source.base64.media_type: Input should be 'application/pdf'`);
  } else if (kind === "text" && block.type === "document") {
    if (source.media_type !== "text/plain")
      refuse(`${path}.document.source.text.media_type: Input should be 'text/plain'`);
    if (typeof source.data !== "string") refuse(`${path}.document.source.text.data: Field required`);
  } else if (kind === "url") {
    if (typeof source.url !== "string" || !/^https?:/.test(source.url))
      refuse(`${path}.source.url.url: Only HTTP(S) URLs are supported`);
  } else {
    refuse(
      `${path}.source: Input tag '${String(kind)}' found using 'type' does not match any of the expected tags`,
    );
  }
}

function checkText(text: unknown, path: string): void {
  if (typeof text !== "string") refuse(`${path}.text: Field required`);
  if (text === "") refuse(`${path}: text content blocks must be non-empty`);
  if (text.trim() === "") refuse(`${path}: text content blocks must contain non-whitespace text`);
}

function checkBlock(value: unknown, role: unknown, path: string, check: Check): Fields {
  const block = fields(value) ?? refuse(`${path}: Input should be an object`);
  const type = String(block.type);
  const keys = Object.hasOwn(BLOCK_KEYS, type) ? BLOCK_KEYS[type] : undefined;
  if (keys === undefined) {
    if (type.endsWith("_tool_result") || type === "container_upload") return block;
    refuse(`${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
  for (const key of Object.keys(block))
    if (key !== "type" && key !== "cache_control" && !keys.includes(key))
      refuse(`${path}.${type}.${key}: Extra inputs are not permitted`);
  checkCacheControl(block, path, check);
  switch (type) {
    case "text":
      checkText(block.text, path);
      break;
    case "image":
    case "document":
      if (role !== "user") refuse(`${path}: ${type} blocks are only permitted in user messages`);
      checkSource(block, path);
      break;
    case "tool_use":
      if (role !== "assistant") refuse(`${path}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      if (typeof block.id !== "string" || !ID.test(block.id))
        refuse(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (typeof block.name !== "string" || !TOOL_NAME.test(block.name))
        refuse(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      if (fields(block.input) === undefined) refuse(`${path}.tool_use.input: Input should be an object`);
      if (check.toolIds.has(block.id)) refuse(`${path}: \`tool_use\` ids must be unique`);
      check.toolIds.add(block.id);
      break;
    case "tool_result":
      if (role !== "user") refuse(`${path}: \`tool_result\` blocks can only be in \`user\` messages`);
      if (typeof block.tool_use_id !== "string") refuse(`${path}.tool_result.tool_use_id: Field required`);
      if (Array.isArray(block.content))
        block.content.forEach((inner: unknown, i) => {
          checkBlock(inner, "user", `${path}.tool_result.content.${i}`, check);
        });
      else if (block.content !== undefined && typeof block.content !== "string")
        refuse(`${path}.tool_result.content: Input should be a valid string or list`);
      break;
    case "thinking":
      if (role !== "assistant") refuse(`${path}: \`thinking\` blocks can only be in \`assistant\` messages`);
      if (typeof block.thinking !== "string") refuse(`${path}.thinking.thinking: Field required`);
      if (typeof block.signature !== "string") refuse(`${path}.thinking.signature: Field required`);
      if (!check.trustThinking && !signatureHolds(block.thinking, block.signature))
        refuse(`${path}: Invalid \`signature\` in \`thinking\` block`);
      break;
    default:
  }
  return block;
}

interface Turn {
  readonly role: unknown;
  readonly blocks: readonly Fields[];
}

function checkMessages(messages: unknown, check: Check): Turn[] {
  if (!Array.isArray(messages)) refuse("messages: Field required");
  if (messages.length === 0) refuse("messages: at least one message is required");
  return messages.map((value: unknown, at) => {
    const path = `messages.${at}`;
    const message = fields(value) ?? refuse(`${path}: Input should be an object`);
    for (const key of Object.keys(message))
      if (key !== "role" && key !== "content") refuse(`${path}.${key}: Extra inputs are not permitted`);
    const { role, content } = message;
    if (role !== "user" && role !== "assistant")
      refuse(`messages: Unexpected role "${String(role)}". Allowed roles are "user" or "assistant".`);
    if (at === 0 && role !== "user") refuse('messages: first message must use the "user" role');
    const last = at === messages.length - 1;
    if (content === undefined) refuse(`${path}.content: Field required`);
    if (
      (content === "" || (Array.isArray(content) && content.length === 0)) &&
      !(last && role === "assistant")
    )
      refuse(
        `${path}: all messages must have non-empty content except for the optional final assistant message`,
      );
    if (typeof content === "string") {
      if (content !== "") checkText(content, path);
      if (last && role === "assistant" && content !== content.trimEnd())
        refuse("messages: final assistant content cannot end with trailing whitespace");
      return { role, blocks: [{ type: "text", text: content }] };
    }
    if (!Array.isArray(content)) refuse(`${path}.content: Input should be a valid string or list`);
    const blocks = content.map((block: unknown, i) => checkBlock(block, role, `${path}.content.${i}`, check));
    const end = blocks.at(-1);
    if (
      last &&
      role === "assistant" &&
      end?.type === "text" &&
      String(end.text) !== String(end.text).trimEnd()
    )
      refuse("messages: final assistant content cannot end with trailing whitespace");
    if (role === "assistant" && (end?.type === "thinking" || end?.type === "redacted_thinking") && last)
      refuse(`${path}: The final block in an assistant message cannot be \`thinking\`.`);
    return { role, blocks };
  });
}

function checkPairs(turns: readonly Turn[]): void {
  turns.forEach((turn, at) => {
    const uses = turn.blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id));
    const next = turns[at + 1];
    if (uses.length > 0) {
      const results = new Set(
        next?.role === "user"
          ? next.blocks
              .filter((block) => block.type === "tool_result")
              .map((block) => String(block.tool_use_id))
          : [],
      );
      const missing = uses.filter((id) => !results.has(id));
      if (missing.length > 0)
        refuse(
          `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
        );
    }
    const before = turns[at - 1];
    const known = new Set(
      before?.role === "assistant"
        ? before.blocks.filter((block) => block.type === "tool_use").map((block) => String(block.id))
        : [],
    );
    const answered = new Set<string>();
    let text = false;
    turn.blocks.forEach((block, i) => {
      if (block.type !== "tool_result") {
        text = true;
        return;
      }
      const id = String(block.tool_use_id);
      if (!known.has(id))
        refuse(
          `messages.${at}.content.${i}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      if (answered.has(id))
        refuse(
          `messages.${at}.content.${i}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      if (text)
        refuse(`messages.${at}: \`tool_result\` blocks must come before other content in the message.`);
      answered.add(id);
    });
  });
}

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
 * What the vendor would refuse about a request body, or `undefined`. Wordings follow the vendor's where they are
 * known, since clients tell an overflow from other invalid requests by its wording only.
 *
 * @param memory the ids of tool calls this stand-in emitted after thinking, and whether it trusts any signature.
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
