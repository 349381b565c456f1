import { isRaw, type Raw } from "../raw.ts";
import { schemaFaults } from "../tool-schema.ts";

/** An error in OpenAI's format: `{error: {message, type, param, code}}`. */
export class OpenAIRefusal extends Error {
  readonly status: number;
  readonly param: string | null;
  readonly code: string | null;
  readonly type: string;

  constructor(status: number, message: string, more: { param?: string; code?: string; type?: string } = {}) {
    super(message);
    this.status = status;
    this.param = more.param ?? null;
    this.code = more.code ?? null;
    this.type = more.type ?? "invalid_request_error";
  }

  body(): Raw {
    return { error: { message: this.message, type: this.type, param: this.param, code: this.code } };
  }
}

/** Rejects the first key of `value` that is not in `known`, with the message of the Responses endpoint. */
export function closed(value: Raw, known: ReadonlySet<string>, at: string): void {
  for (const key of Object.keys(value)) {
    if (known.has(key)) continue;
    const name = at === "" ? key : `${at}.${key}`;
    throw new OpenAIRefusal(400, `Unknown parameter: '${name}'.`, { param: name, code: "unknown_parameter" });
  }
}

/**
 * Refuses a tool whose schema the vendor does not accept.
 *
 * @param param path of the schema in the request
 */
export function checkToolSchema(name: string, schema: Raw, param: string): void {
  const refuse = (message: string): never => {
    throw new OpenAIRefusal(400, `Invalid schema for function '${name}': ${message}`, {
      param,
      code: "invalid_function_parameters",
    });
  };
  if (schema.type !== "object")
    refuse(`schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema.type)}"'.`);
  for (const { kind, path } of schemaFaults(schema)) {
    const context = `In context=(${path.map((step) => `'${step}'`).join(", ")})`;
    if (kind === "combinator")
      refuse(
        "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.",
      );
    if (kind === "missing_items") refuse(`${context}, array schema missing items.`);
    if (kind === "invalid") refuse(`${context}, the schema is not valid.`);
  }
}

/** Refuses `json_object` for a prompt without the word JSON, because the model could write white space forever. */
export function checkJsonWord(
  body: Raw,
  prompt: "messages" | "input",
  option: "response_format" | "text",
): void {
  const format = option === "text" && isRaw(body.text) ? body.text.format : body[option];
  if (!isRaw(format) || format.type !== "json_object") return;
  if (/json/i.test(JSON.stringify([body[prompt], body.instructions]))) return;
  const name = option === "text" ? "text.format" : option;
  throw new OpenAIRefusal(
    400,
    `'${prompt}' must contain the word 'json' in some form, to use '${name}' of type 'json_object'.`,
    { param: prompt },
  );
}

/** Returns true if the vendor treats `model` as a reasoning model, judged by its name. */
export function isReasoningModel(model: string): boolean {
  return /^(o\d|gpt-5|gpt-6)/.test(model) && !/chat/.test(model);
}

const IMAGE_DATA = /^data:image\/(png|jpe?g|gif|webp);base64,[A-Za-z0-9+/=]+$/;

/** Refuses an image that the vendor cannot open. */
export function checkImageUrl(url: unknown, param: string): void {
  if (typeof url !== "string" || !/^(https?:\/\/|data:)/.test(url)) {
    throw new OpenAIRefusal(
      400,
      `Invalid '${param}'. Expected a valid URL, but got a value with an invalid format.`,
      {
        param,
        code: "invalid_value",
      },
    );
  }
  if (url.startsWith("data:") && !IMAGE_DATA.test(url)) {
    throw new OpenAIRefusal(
      400,
      "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
      { param, code: "invalid_image_format" },
    );
  }
}
