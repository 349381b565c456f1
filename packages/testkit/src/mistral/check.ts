import { isRaw, type Raw } from "../raw.ts";

/** An error in one of Mistral's formats. */
export class MistralRefusal extends Error {
  readonly status: number;
  readonly body: Raw;

  constructor(status: number, body: Raw) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

/**
 * Creates an error in the format that Mistral uses for everything but validation: `{object: "error", message, type,
 * param, code}`.
 */
export function refusal(status: number, message: string, type: string, code: string | null): MistralRefusal {
  return new MistralRefusal(status, {
    object: "error",
    message,
    type,
    param: null,
    code,
    raw_status_code: status,
  });
}

/** Creates the 422 for a body that violates the schema. */
function unfit(type: string, loc: readonly (string | number)[], msg: string, input: unknown): MistralRefusal {
  return new MistralRefusal(422, {
    object: "error",
    message: { detail: [{ type, loc: ["body", ...loc], msg, input }] },
    type: "invalid_request_error",
    param: null,
    code: null,
    raw_status_code: 422,
  });
}

const TOP = new Set(
  `model temperature top_p max_tokens stream stop random_seed metadata messages response_format tools tool_choice
  presence_penalty frequency_penalty n prediction parallel_tool_calls prompt_mode reasoning_effort guardrails
  prompt_cache_key safe_prompt`.split(/\s+/),
);
const KEYS: Readonly<Record<string, ReadonlySet<string>>> = {
  system: new Set(["role", "content"]),
  user: new Set(["role", "content"]),
  assistant: new Set(["role", "content", "tool_calls", "prefix"]),
  tool: new Set(["role", "content", "tool_call_id", "name"]),
};
const PARTS = new Set(["text", "image_url", "document_url", "reference", "file", "thinking", "input_audio"]);

function closed(value: Raw, known: ReadonlySet<string>, loc: readonly (string | number)[]): void {
  for (const [key, input] of Object.entries(value)) {
    if (!known.has(key))
      throw unfit("extra_forbidden", [...loc, key], "Extra inputs are not permitted", input);
  }
}

const TOOL_ID = /^[a-zA-Z0-9]{9}$/;
const ORDER = "invalid_request_message_order";

/** Throws for requests that Mistral's `/v1/chat/completions` refuses. */
export function checkMistral(body: Raw): void {
  closed(body, TOP, []);
  if (typeof body.model !== "string") throw unfit("missing", ["model"], "Field required", body);
  if (!Array.isArray(body.messages)) throw unfit("missing", ["messages"], "Field required", body);
  if (body.messages.length === 0) {
    throw unfit("too_short", ["messages"], "List should have at least 1 item after validation, not 0", []);
  }
  checkTools(body);
  let previous = "";
  let open: string[] = [];
  for (const [i, message] of body.messages.entries()) {
    if (!isRaw(message))
      throw unfit("dict_type", ["messages", i], "Input should be a valid dictionary", message);
    const role = String(message.role);
    const known = Object.hasOwn(KEYS, role) ? KEYS[role] : undefined;
    if (!known)
      throw unfit(
        "union_tag_invalid",
        ["messages", i],
        `Input tag '${role}' found using 'role' does not match any of the expected tags`,
        message,
      );
    closed(message, known, ["messages", i, role]);
    checkParts(message.content, i, role);
    if (role === "tool") {
      const id = message.tool_call_id;
      checkId(id);
      if (open.length === 0 && previous !== "tool") {
        throw refusal(400, `Unexpected role 'tool' after role '${previous || "start"}'`, ORDER, "3230");
      }
      if (!open.includes(String(id))) {
        throw refusal(400, `Unexpected tool call id ${String(id)} in tool results`, ORDER, "3230");
      }
      open = open.filter((other) => other !== id);
    } else {
      if (open.length > 0)
        throw refusal(400, "Not the same number of function calls and responses", ORDER, "3230");
      if (role === "user" && previous === "tool") {
        throw refusal(400, "Unexpected role 'user' after role 'tool'", ORDER, "3230");
      }
      if (role === "assistant") open = checkAssistant(message);
    }
    previous = role;
  }
  if (open.length > 0)
    throw refusal(400, "Not the same number of function calls and responses", ORDER, "3230");
  const last: unknown = body.messages.at(-1);
  if (previous !== "user" && previous !== "tool" && !(isRaw(last) && last.prefix === true)) {
    throw refusal(
      400,
      `Expected last role User or Tool (or Assistant with prefix True) for serving but got ${previous}`,
      ORDER,
      "3230",
    );
  }
}

function checkTools(body: Raw): void {
  if (body.tools == null) {
    if (body.tool_choice === "any" || body.tool_choice === "required" || isRaw(body.tool_choice)) {
      throw refusal(
        400,
        "When using 'tool_choice', 'tools' must be set",
        "invalid_request_tool_choice",
        "3220",
      );
    }
    return;
  }
  if (!Array.isArray(body.tools))
    throw unfit("list_type", ["tools"], "Input should be a valid list", body.tools);
  for (const [i, tool] of body.tools.entries()) {
    const fn: unknown = isRaw(tool) ? tool.function : undefined;
    if (!isRaw(fn)) throw unfit("missing", ["tools", i, "function"], "Field required", tool);
    closed(fn, new Set(["name", "description", "parameters", "strict"]), ["tools", i, "function"]);
    checkName(fn);
    if (!isRaw(fn.parameters))
      throw unfit("missing", ["tools", i, "function", "parameters"], "Field required", fn);
  }
}

function checkParts(content: unknown, i: number, role: string): void {
  if (content == null || typeof content === "string") return;
  if (!Array.isArray(content)) {
    throw unfit("string_type", ["messages", i, role, "content"], "Input should be a valid string", content);
  }
  for (const [j, part] of content.entries()) {
    if (isRaw(part) && PARTS.has(String(part.type))) continue;
    throw unfit(
      "union_tag_invalid",
      ["messages", i, role, "content", j],
      "Input tag found using 'type' does not match any of the expected tags",
      part,
    );
  }
}

function checkId(id: unknown): void {
  if (typeof id === "string" && TOOL_ID.test(id)) return;
  throw refusal(
    400,
    `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`,
    "invalid_function_call",
    "3280",
  );
}

function checkAssistant(message: Raw): string[] {
  const calls = message.tool_calls;
  const empty =
    message.content == null ||
    message.content === "" ||
    (Array.isArray(message.content) && message.content.length === 0);
  if (calls == null || (Array.isArray(calls) && calls.length === 0)) {
    if (empty)
      throw refusal(
        400,
        "Assistant message must have either content or tool_calls, but not none.",
        "invalid_request_assistant_message",
        "3240",
      );
    return [];
  }
  if (!Array.isArray(calls)) return [];
  return calls.map((call: unknown) => {
    const id = isRaw(call) ? call.id : undefined;
    checkId(id);
    checkName(isRaw(call) && isRaw(call.function) ? call.function : {});
    return String(id);
  });
}

function checkName(fn: Raw): void {
  if (typeof fn.name === "string" && /^[a-zA-Z0-9_-]{1,256}$/.test(fn.name)) return;
  throw refusal(
    400,
    `Function name was ${String(fn.name)} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 256.`,
    "invalid_function_name",
    "3250",
  );
}
