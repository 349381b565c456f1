import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Model,
  type ToolSpec,
} from "@signalbox/agent-core";
import type { Failure } from "../failure/failure.ts";

/** A refusal from a server. */
export interface Refusal {
  readonly failure: Failure;
  /** The field named by the server, such as OpenAI's `param`. */
  readonly param?: string | undefined;
}

/**
 * A lesson from a refusal about requesting this model from this server. All fields but `maxOutputTokens` are
 * remembered.
 */
export interface Lesson {
  /** Corrections to the model's data. */
  readonly model?: {
    readonly contextWindow?: number;
    readonly maxOutputTokens?: number;
    readonly input?: Model["input"];
    readonly quirks?: JsonObject;
  };
  /** Maximum number of tools in a request. */
  readonly maxTools?: number;
  /** Maximum number of images in a request. */
  readonly maxImages?: number;
  /** A body field that the server does not accept, as a path such as `reasoning.summary`. */
  readonly field?: string;
  /** The wire name of a tool whose declaration the server does not accept. */
  readonly tool?: string;
  /** True if the server accepts only schemas of tools with basic keywords. */
  readonly plainSchemas?: boolean;
  /** A limit on output tokens that leaves room for this request's prompt. */
  readonly maxOutputTokens?: number;
}

interface ModelLessons {
  model: NonNullable<Lesson["model"]>;
  readonly fields: Set<string>;
  /** The refused tools by name. A tool is tried again once its declaration has changed. */
  readonly tools: Map<string, { readonly declaration: string; readonly reason: string }>;
  plainSchemas: boolean;
  maxTools: number;
  maxImages: number;
  /** Estimated tokens of the largest request that the server has accepted. */
  largestAccepted: number;
}

/** The lessons of one account, by model. */
export class Lessons {
  readonly #byModel = new Map<string, ModelLessons>();

  #of(model: Model): ModelLessons {
    let lessons = this.#byModel.get(model.id);
    if (lessons === undefined) {
      lessons = {
        model: {},
        fields: new Set(),
        tools: new Map(),
        plainSchemas: false,
        maxTools: Number.POSITIVE_INFINITY,
        maxImages: Number.POSITIVE_INFINITY,
        largestAccepted: 0,
      };
      this.#byModel.set(model.id, lessons);
    }
    return lessons;
  }

  /** Returns the model's data with the learned corrections. */
  correct(model: Model): Model {
    const { quirks, ...sizes } = this.#of(model).model;
    return { ...model, ...sizes, quirks: { ...model.quirks, ...quirks } };
  }

  /** Returns the maximum numbers of tools and images in a request, and whether images are accepted at all. */
  limits(model: Model): { readonly tools: number; readonly images: number } {
    const { maxTools, maxImages, model: corrections } = this.#of(model);
    const showsNone = corrections.input !== undefined && !corrections.input.includes("image");
    return { tools: maxTools, images: showsNone ? 0 : maxImages };
  }

  /** Returns true if the schemas of tools must be reduced to basic keywords. */
  needsPlainSchemas(model: Model): boolean {
    return this.#of(model).plainSchemas;
  }

  /** Returns the body fields to omit. */
  fields(model: Model): ReadonlySet<string> {
    return this.#of(model).fields;
  }

  /** Returns the reason why the server refused a tool, or `undefined` if it did not. */
  refusalOf(model: Model, tool: ToolSpec): string | undefined {
    const refused = this.#of(model).tools.get(tool.name);
    return refused?.declaration === JSON.stringify(tool) ? refused.reason : undefined;
  }

  /**
   * Remembers a lesson. Returns true if it is new.
   *
   * @param tools the tools of the refused request
   * @param reason the server's message
   */
  add(
    model: Model,
    { model: corrections = {}, field, tool, plainSchemas = false, maxTools, maxImages }: Lesson,
    tools: readonly ToolSpec[] = [],
    reason = "",
  ): boolean {
    const lessons = this.#of(model);
    const before = JSON.stringify(lessons.model);
    const quirks = { ...lessons.model.quirks, ...corrections.quirks };
    lessons.model = { ...lessons.model, ...corrections, ...(Object.keys(quirks).length > 0 && { quirks }) };
    let isNew = JSON.stringify(lessons.model) !== before;
    if (field !== undefined && !lessons.fields.has(field)) {
      lessons.fields.add(field);
      isNew = true;
    }
    if (plainSchemas && !lessons.plainSchemas) {
      lessons.plainSchemas = true;
      isNew = true;
    }
    if (maxTools !== undefined && maxTools < lessons.maxTools) {
      lessons.maxTools = maxTools;
      isNew = true;
    }
    if (maxImages !== undefined && maxImages < lessons.maxImages) {
      lessons.maxImages = maxImages;
      isNew = true;
    }
    const spec = tools.find(({ name }) => name === tool);
    if (spec !== undefined && this.refusalOf(model, spec) === undefined) {
      lessons.tools.set(spec.name, { declaration: JSON.stringify(spec), reason });
      isNew = true;
    }
    return isNew;
  }

  /** Remembers that a request of this size was accepted. */
  accepted(model: Model, tokens: number): void {
    const lessons = this.#of(model);
    lessons.largestAccepted = Math.max(lessons.largestAccepted, tokens);
  }

  /** Returns true if no request has been accepted yet. */
  isUntried(model: Model): boolean {
    return this.#of(model).largestAccepted === 0;
  }

  /** Returns true if requests have been accepted, but all of them were smaller. */
  isLargest(model: Model, tokens: number): boolean {
    const { largestAccepted } = this.#of(model);
    return largestAccepted > 0 && tokens > largestAccepted;
  }
}

/** Minimum room for an answer in tokens. With less, the conversation counts as too long. */
const MIN_ROOM = 128;

/**
 * Returns the lesson from any vendor's refusal, if it names a tool, a limit or a field.
 *
 * @param body the refused request body
 * @param tools the tools in it
 * @param hasPlainSchemas true if their schemas have only basic keywords
 */
export function learnFromRefusal(
  { failure, param }: Refusal,
  body: JsonObject,
  tools: readonly ToolSpec[],
  hasPlainSchemas: boolean,
): Lesson | undefined {
  const text = `${param ?? ""} ${failure.message}`;
  // Some servers respond with 500 if they cannot convert a schema.
  if (failure.code === "overloaded" && /schema|grammar|unmarshal/i.test(text))
    return learnSchemas(text, tools, hasPlainSchemas);
  if (failure.code !== "invalid" && failure.code !== "overflow") return undefined;
  const asked = sentOutputLimit(body);
  if (asked !== undefined) {
    const limit = learnRoom(text, asked) ?? learnOutputLimit(text, asked);
    if (limit !== undefined) return limit;
  }
  if (failure.code !== "invalid") return undefined;
  const tool = refusedTool(text, tools);
  if (tool !== undefined) return { tool };
  const media = learnMedia(text, body) ?? learnToolLimit(text, tools);
  if (media !== undefined) return media;
  const field = refusedField(text, param, body);
  return field === undefined ? learnSchemas(text, tools, hasPlainSchemas) : { field };
}

const SCHEMA_REFUSAL =
  /schema|grammar|\btools?\b.{0,80}\b(?:parameters|properties)\b|cannot unmarshal .{0,80}\btools?\b/is;
const OF_ANSWER = /response_format|json_object|json_schema|output_config|tool_choice/i;

/**
 * Reads a refusal of a schema that names no tool, such as Moonshot's "tools.function.parameters is not a valid moonshot
 * flavored json schema" or llama.cpp's "failed to parse grammar". If plain schemas are refused too, the tools with the
 * named property are left out.
 */
function learnSchemas(
  text: string,
  tools: readonly ToolSpec[],
  hasPlainSchemas: boolean,
): Lesson | undefined {
  if (tools.length === 0 || !SCHEMA_REFUSAL.test(text) || OF_ANSWER.test(text)) return undefined;
  if (!hasPlainSchemas) return { plainSchemas: true };
  const property = /\bproperties\.([\w$-]+)/.exec(text)?.[1] ?? "";
  const tool = tools.find(({ inputSchema: { properties } }) => {
    return isJsonObject(properties) && Object.hasOwn(properties, property);
  });
  return tool && { tool: tool.name };
}

/** Returns the limit on output tokens in a request body. */
function sentOutputLimit(body: JsonObject): number | undefined {
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
  const found = [...names.map((name) => body[name]), config.maxOutputTokens];
  return found.find((value) => typeof value === "number");
}

/** Returns the integers in a text that are not part of a name or a fraction. */
function wholeNumbers(text: string): number[] {
  const found = text.match(/(?<![\w.-])\d{1,3}(?:,\d{3})+(?![\w-])|(?<![\w.-])\d+(?![\w-]|\.\d)/g) ?? [];
  return found.map((digits) => Number(digits.replaceAll(",", "")));
}

/**
 * Reads a refusal because prompt and answer together exceed the window, such as "maximum context length is 8192 tokens,
 * however you requested 8504 tokens (4408 in the messages, 4096 in the completion)".
 */
function learnRoom(text: string, asked: number): Lesson | undefined {
  if (!/\binputs?\b|prompt|messages/i.test(text)) return undefined;
  const numbers = wholeNumbers(text);
  // The requested limit does not reveal the window, but may be equal to it.
  const at = numbers.lastIndexOf(asked);
  const others = numbers.toSpliced(at < 0 ? numbers.length : at, 1);
  const total = others.find((sum) => sum > asked && others.includes(sum - asked));
  const prompt = total === undefined ? undefined : total - asked;
  const windows = others.filter((size) => total === undefined || (size < total && size !== prompt));
  const contextWindow = windows.length === 0 ? undefined : Math.max(...windows);
  if (contextWindow === undefined || contextWindow < MIN_ROOM) return undefined;
  const fits = (size: number): boolean => size < contextWindow && size + asked > contextWindow;
  const used = prompt ?? Math.max(0, ...others.filter((size) => fits(size) && size !== asked));
  if (!fits(used)) return undefined;
  const room = contextWindow - used - 16;
  return room < MIN_ROOM ? undefined : { model: { contextWindow }, maxOutputTokens: room };
}

/** Reads a refusal of the output token limit, such as "max_tokens: 64000 > 32000". */
function learnOutputLimit(text: string, asked: number): Lesson | undefined {
  if (
    !/max[_ ]?(?:completion|output|new)?[_ ]?tokens|(?:output|completion) tokens|maximum tokens/i.test(text)
  )
    return undefined;
  const [largest = 0] = wholeNumbers(text)
    .filter((number) => number < asked)
    .toSorted((a, b) => b - a);
  const maxOutputTokens = new RegExp(`${largest} \\(exclusive\\)`).test(text) ? largest - 1 : largest;
  return maxOutputTokens < 16 ? undefined : { model: { maxOutputTokens } };
}

/** Returns the wire name of the tool that caused a refusal. */
function refusedTool(text: string, tools: readonly ToolSpec[]): string | undefined {
  // These refusals concern the use of tools, or all tools.
  if (/tool_choice|\.strict\b/.test(text)) return undefined;
  const place =
    /function_?declarations\[(\d+)\]/i.exec(text)?.[1] ?? /\btools?(?:\.|\[)(\d+)\b/i.exec(text)?.[1];
  if (place !== undefined) return tools[Number(place)]?.name;
  if (!/schema|parameter|declaration|invalid/i.test(text)) return undefined;
  const named = text.matchAll(/\b(?:function|tool)s?\b[^'"`]{0,30}['"`]([\w-]+)['"`]/gi);
  for (const [, name] of named) if (tools.some((tool) => tool.name === name)) return name;
  return undefined;
}

/**
 * Matches a maximum number of images, or images that are not accepted at all. Refusals of single images mention a
 * format or a size.
 */
const IMAGE_COUNTS: readonly RegExp[] = [
  /\b(?:at most|max(?:imum)?|up to|limit\w*|only|more than|exceeds?)\D{0,25}?(\d+) (?:image|picture)/i,
  /\bimages?\b[^.;\n]{0,60}?\b(?:at most|max(?:imum)?|up to|limit\w*|more than|exceeds?)\D{0,15}(\d+)\b(?! ?(?:[kmg]i?b|bytes|px|pixels|x)\b)/i,
];
const NO_IMAGES =
  /(?:not|n't)\b[^.;\n]{0,30}\bsupport|unsupported|only (?:supported|text)|text-only|no endpoints|not (?:a |an )?(?:vision|multi-?modal)|not (?:accept|allow)/i;
const ONE_IMAGE = /\bimage[ /](?:format|type|bmp|tiff|svg|heic|gif|webp|png|jpe?g)|mime|media[_ ]type/i;

/** Reads a refusal of images: of all of them, or above a number. */
function learnMedia(text: string, body: JsonObject): Lesson | undefined {
  if (!/\b(?:images?|image_url|vision|multi-?modal)\b/i.test(text)) return undefined;
  const shown =
    JSON.stringify(body).match(/"type":"(?:image|image_url|input_image)"|"inlineData"/g)?.length ?? 0;
  if (shown === 0) return undefined;
  const [maxImages] = IMAGE_COUNTS.map((pattern) => Number(pattern.exec(text)?.[1])).filter(
    (count) => count > 0,
  );
  if (maxImages !== undefined) return maxImages < shown ? { maxImages } : undefined;
  return NO_IMAGES.test(text) && !ONE_IMAGE.test(text) ? { model: { input: ["text"] } } : undefined;
}

/** Reads a refusal of too many tools, such as "array too long. Expected an array with maximum length 128". */
function learnToolLimit(text: string, tools: readonly ToolSpec[]): Lesson | undefined {
  if (!/\b(?:tools?|functions?|function_?declarations?)\b/i.test(text)) return undefined;
  if (!/too (?:long|many)|max|at most|up to|limit|exceed|more than/i.test(text)) return undefined;
  const [maxTools] = wholeNumbers(text)
    .filter((number) => number > 0 && number < tools.length)
    .toSorted((a, b) => b - a);
  return maxTools === undefined ? undefined : { maxTools };
}

/** Phrases in a refusal of a field that must not be present. */
const NOT_ACCEPTED =
  /unsupported|not support|unrecognized|unknown|unexpected|extra (?:inputs|fields)|not (?:permitted|allowed|accepted|available|implemented)|does not accept|cannot find field|additional propert|invalid (?:argument|parameter|field|name|value)/i;

/** Fields that every request needs. */
const REQUIRED: ReadonlySet<string> = new Set(["model", "messages", "input", "contents", "stream", "tools"]);

/** Returns the path of the body field that the server refused. */
function refusedField(text: string, param: string | undefined, body: JsonObject): string | undefined {
  if (!NOT_ACCEPTED.test(text)) return undefined;
  const quoted = [...text.matchAll(/['"`]([a-zA-Z_][\w.]*)['"`]/g)].map(([, name = ""]) => name);
  const plain = [
    ...text.matchAll(/(?:supplied|parameters?|fields?|arguments?|name): ?([a-zA-Z_][\w.]*)/gi),
  ].map(([, name = ""]) => name);
  const leading = /([a-zA-Z_][\w.]*): (?:extra|unexpected|unknown|unsupported)/i.exec(text)?.[1];
  const candidates = [param ?? "", ...quoted, ...plain, leading ?? ""];
  for (const candidate of candidates) {
    const path = pathIn(body, candidate.replace(/^body\./, ""));
    if (path !== undefined && !REQUIRED.has(path.split(".")[0] ?? "")) return path;
  }
  return undefined;
}

/** Returns the path of a field in the body. A vendor may omit the first segment or change the case. */
function pathIn(body: JsonObject, name: string): string | undefined {
  if (name === "") return undefined;
  for (const [prefix, at] of [
    ["", body],
    ["generationConfig.", body.generationConfig],
  ] as const) {
    let value: JsonValue | undefined = at;
    const path: string[] = [];
    for (const step of name.split(".")) {
      if (!isJsonObject(value)) break;
      const key = Object.keys(value).find((own) => own === step || own === toCamelCase(step));
      if (key === undefined) break;
      path.push(key);
      value = value[key];
    }
    if (path.length > 0) return prefix + path.join(".");
  }
  return undefined;
}

function toCamelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Returns a JSON body without the fields at these paths. */
export function withoutFields(body: JsonObject, paths: Iterable<string>): JsonObject {
  let rest = body;
  for (const path of paths) rest = withoutField(rest, path.split("."));
  return rest;
}

function withoutField(body: JsonObject, [step = "", ...further]: readonly string[]): JsonObject {
  if (!Object.hasOwn(body, step)) return body;
  const { [step]: value, ...rest } = body;
  if (further.length === 0) return rest;
  return isJsonObject(value) ? { ...body, [step]: withoutField(value, further) } : body;
}
