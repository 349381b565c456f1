import { isRaw, type Raw } from "../raw.ts";

/** An error in Google's format: `{error: {code, message, status, details?}}`. */
export class GoogleRefusal extends Error {
  readonly code: number;
  readonly status: string;
  readonly details: readonly Raw[] | undefined;

  constructor(code: number, status: string, message: string, details?: readonly Raw[]) {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
  }

  body(): Raw {
    const details = this.details ? { details: this.details } : {};
    return { error: { code: this.code, message: this.message, status: this.status, ...details } };
  }
}

/** Creates a 400 with `INVALID_ARGUMENT`. */
export function invalid(message: string, details?: readonly Raw[]): GoogleRefusal {
  return new GoogleRefusal(400, "INVALID_ARGUMENT", message, details);
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));
const TOP = words(
  "contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model serviceTier store",
);
const CONTENT = words("parts role");
const PART = words(
  "text inlineData functionCall functionResponse fileData executableCode codeExecutionResult toolCall toolResponse videoMetadata thought thoughtSignature partMetadata mediaResolution",
);
const CALL = words("id name args");
const RESPONSE = words("id name response parts willContinue scheduling");
const CONFIG = words(
  `stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens
  temperature topP topK seed presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers
  speechConfig thinkingConfig imageConfig mediaResolution`,
);
const THINKING = words("includeThoughts thinkingBudget thinkingLevel");
const DECLARATION = words(
  "name description parameters parametersJsonSchema response responseJsonSchema behavior",
);

function closed(value: Raw, known: ReadonlySet<string>, at: string): void {
  for (const key of Object.keys(value)) {
    const camel = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (known.has(key) || known.has(camel)) continue;
    const where = at === "" ? "" : ` at '${at}'`;
    const description = `Invalid JSON payload received. Unknown name "${key}"${where}: Cannot find field.`;
    throw invalid(description, [
      { "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: at, description }] },
    ]);
  }
}

/** Signatures that the vendor documents as valid if the real one is not available. */
const PASSES = new Set(["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]);

/**
 * Throws for requests that `generateContent` refuses.
 *
 * @param issued signatures that the fake server created
 */
export function checkGoogle(body: Raw, model: string, issued: ReadonlySet<string>): void {
  closed(body, TOP, "");
  const config = body.generationConfig;
  if (isRaw(config)) {
    closed(config, CONFIG, "generation_config");
    if (isRaw(config.thinkingConfig)) checkThinking(config.thinkingConfig, model);
    const isJson = config.responseMimeType === "application/json";
    if (isJson && Array.isArray(body.tools) && !/gemini-3/.test(model))
      throw invalid("Function calling with a response mime type: 'application/json' is unsupported");
  }
  checkTools(body.tools);
  if (isRaw(body.systemInstruction)) closed(body.systemInstruction, CONTENT, "system_instruction");
  const contents = body.contents;
  if (!Array.isArray(contents) || contents.length === 0) {
    throw invalid("* GenerateContentRequest.contents: contents is not specified\n");
  }
  let calls: Raw[] | undefined;
  let previous = "";
  for (const [i, content] of contents.entries()) {
    if (!isRaw(content)) throw invalid(`Invalid value at 'contents[${i}]'`);
    closed(content, CONTENT, `contents[${i}]`);
    const role = content.role ?? "user";
    if (role !== "user" && role !== "model") throw invalid("Please use a valid role: user, model.");
    if (role === previous)
      throw invalid("Please ensure that multiturn requests alternate between user and model.");
    const parts = Array.isArray(content.parts) ? content.parts : [];
    if (parts.length === 0) {
      throw invalid(`* GenerateContentRequest.contents[${i}].parts: contents.parts must not be empty.\n`);
    }
    const found = checkParts(parts, i, model, issued, isCurrentTurn(contents, i));
    if (found.responses.length !== (calls?.length ?? 0)) {
      throw invalid(
        calls === undefined
          ? "Please ensure that function response turn comes immediately after a function call turn."
          : "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    }
    if (found.responses.length > 0) matchNames(calls ?? [], found.responses);
    if (found.calls.length > 0 && role !== "model")
      throw invalid(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    if (found.calls.length > 0 && previous !== "user") {
      throw invalid(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      );
    }
    calls = found.calls.length > 0 ? found.calls : undefined;
    previous = role;
  }
  if (previous !== "user")
    throw invalid("Please ensure that multiturn requests end with a user role or a function response.");
}

function matchNames(calls: readonly Raw[], responses: readonly Raw[]): void {
  const left = calls.map((call) => call.name);
  for (const response of responses) {
    const at = left.indexOf(response.name);
    if (at < 0)
      throw invalid(
        `Function response name '${String(response.name)}' does not match any function call of the preceding turn.`,
      );
    left.splice(at, 1);
  }
}

/** Signatures are required for the calls since the person's last message. */
function isCurrentTurn(contents: readonly unknown[], at: number): boolean {
  return !contents.slice(at + 1).some((content) => {
    if (!isRaw(content) || content.role === "model" || !Array.isArray(content.parts)) return false;
    return content.parts.some(
      (part: unknown) => isRaw(part) && part.functionResponse === undefined && part.text !== undefined,
    );
  });
}

function checkParts(
  parts: readonly unknown[],
  i: number,
  model: string,
  issued: ReadonlySet<string>,
  current: boolean,
): { calls: Raw[]; responses: Raw[] } {
  const calls: Raw[] = [];
  const responses: Raw[] = [];
  for (const [j, part] of parts.entries()) {
    if (!isRaw(part)) throw invalid(`Invalid value at 'contents[${i}].parts[${j}]'`);
    const at = `contents[${i}].parts[${j}]`;
    closed(part, PART, at);
    const data = ["text", "inlineData", "functionCall", "functionResponse", "fileData"].filter(
      (key) => part[key] !== undefined,
    );
    if (data.length === 0 && part.thoughtSignature === undefined) {
      throw invalid(
        `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field\n`,
      );
    }
    if (data.length > 1)
      throw invalid(
        `Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${data[1]}'`,
      );
    const signature = part.thoughtSignature;
    if (typeof signature === "string" && !issued.has(signature) && !PASSES.has(signature)) {
      throw invalid("Corrupted thought signature.");
    }
    if (isRaw(part.functionCall)) {
      closed(part.functionCall, CALL, `${at}.function_call`);
      const { name } = part.functionCall;
      if (typeof name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(name)) {
        throw invalid(
          `* GenerateContentRequest.${at}.function_call.name: [FIELD_INVALID] Invalid function name.\n`,
        );
      }
      if (calls.length === 0 && current && /gemini-3/.test(model) && signature === undefined) {
        throw invalid(
          `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${String(part.functionCall.name)}\` , position ${i + 1}.`,
        );
      }
      calls.push(part.functionCall);
    }
    if (isRaw(part.functionResponse)) {
      closed(part.functionResponse, RESPONSE, `${at}.function_response`);
      if (!isRaw(part.functionResponse.response)) {
        throw invalid(`* GenerateContentRequest.${at}.function_response.response: [FIELD_INVALID]\n`);
      }
      responses.push(part.functionResponse);
    }
  }
  return { calls, responses };
}

function checkThinking(config: Raw, model: string): void {
  closed(config, THINKING, "generation_config.thinking_config");
  if (config.thinkingBudget !== undefined && config.thinkingLevel !== undefined) {
    throw invalid("You can only set only one of thinking budget and thinking level.");
  }
  if (/gemini-(1|2\.0)/.test(model)) throw invalid("Thinking is not enabled for this model.");
  if (config.thinkingLevel !== undefined && !/gemini-3/.test(model)) {
    throw invalid("Thinking level is not supported for this model.");
  }
  if (config.thinkingBudget === 0 && /2\.5-pro|gemini-3/.test(model)) {
    throw invalid("Budget 0 is invalid. This model only works in thinking mode.");
  }
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  for (const [i, tool] of (Array.isArray(tools) ? tools : []).entries()) {
    const declarations: unknown = isRaw(tool) ? tool.functionDeclarations : undefined;
    for (const [j, one] of (Array.isArray(declarations) ? declarations : []).entries()) {
      const at = `tools[${i}].function_declarations[${j}]`;
      if (!isRaw(one)) throw invalid(`Invalid value at '${at}'`);
      closed(one, DECLARATION, at);
      if (typeof one.name !== "string" || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(one.name)) {
        throw invalid(
          `* GenerateContentRequest.${at}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n`,
        );
      }
      if (one.parameters !== undefined && one.parametersJsonSchema !== undefined) {
        throw invalid(
          `* GenerateContentRequest.${at}: only one of parameters and parameters_json_schema can be set.\n`,
        );
      }
    }
  }
}
