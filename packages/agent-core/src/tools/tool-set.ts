import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { AgentError, reasonOf } from "../errors.ts";
import { isDeeperThan, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type RaceLimits, race } from "../loop/race.ts";
import type { ToolSpec } from "../model.ts";
import { estimateTokens, sum } from "../tokens.ts";
import type { InputSchema, Tool } from "../tool.ts";
import { coerceArguments } from "./coerce.ts";
import { validateJson } from "./json-schema.ts";
import { formatIssues, type SchemaIssue } from "./schema-issues.ts";

/** Result of a validation: the arguments for the tool, or issues for the model. `undefined` if it timed out. */
type Checked = { readonly args: unknown } | { readonly problems: string } | undefined;

/** Names that every vendor accepts. OpenAI's rule is the strictest. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/**
 * Maximum nesting of a schema. Each level of the described value takes several schema levels, and vendors may recurse.
 */
const MAX_SCHEMA_DEPTH = 256;

type Check = (args: JsonObject, limits: RaceLimits) => Promise<Checked>;

/** The tools of a run. */
export class ToolSet {
  readonly specs: readonly ToolSpec[];
  /** Approximate tokens of the tools in a request. */
  readonly tokens: number;
  readonly #tools = new Map<string, Tool>();

  /** @throws AgentError `invalid_tool` */
  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      if (this.#tools.has(tool.name)) {
        throw new AgentError("invalid_tool", `Two tools are called "${tool.name}".`);
      }
      this.#tools.set(tool.name, tool);
    }
    this.specs = tools.map(getToolSpec);
    const cost = (tool: Tool) => compileSchema(tool).tokens + estimateTokens(tool.name + tool.description);
    this.tokens = sum(tools, cost);
  }

  get(name: string): Tool | undefined {
    return this.#tools.get(name);
  }
}

/**
 * Returns the specification of a tool for the model.
 *
 * @throws AgentError `invalid_tool`
 */
export function getToolSpec(tool: Tool): ToolSpec {
  return compileSchema(tool).getSpec(tool);
}

/**
 * Validates arguments, and corrects invalid ones if their meaning is unambiguous. Never rejects: an error thrown by a
 * schema becomes an issue of the arguments.
 */
export async function checkArguments(tool: Tool, args: JsonObject, signal?: AbortSignal): Promise<Checked> {
  try {
    const schema = compileSchema(tool);
    const limits = { signal, timeoutMs: tool.timeoutMs };
    const checked = await schema.check(args, limits);
    if (checked === undefined || "args" in checked) return checked;
    const coerced = coerceArguments(schema.json, args);
    if (coerced === args) return checked;
    const checkedAgain = await schema.check(coerced, limits);
    return checkedAgain !== undefined && "args" in checkedAgain ? checkedAgain : checked;
  } catch (error) {
    return { problems: formatIssues([{ path: "", message: reasonOf(error) }]) };
  }
}

/** Cached by schema, so that an application can create its tools again for each run. */
const schemas = new WeakMap<InputSchema, CompiledSchema>();

/** @throws AgentError `invalid_tool` if a tool without types has no schema */
export function checkSchema(name: string, schema: InputSchema): void {
  if ((typeof schema === "object" && schema !== null) || typeof schema === "function") return;
  const remedy = "Set `input` (`inputSchema` without `defineTool`) to a Standard Schema or a JSON Schema";
  throw new AgentError("invalid_tool", `Tool "${name}" has no input schema. ${remedy} of its arguments.`);
}

function compileSchema({ name, inputSchema }: Tool): CompiledSchema {
  checkSchema(name, inputSchema);
  const schema = schemas.get(inputSchema) ?? new CompiledSchema(name, inputSchema);
  schemas.set(inputSchema, schema);
  return schema;
}

/** A schema in JSON form, and its validation. */
class CompiledSchema {
  readonly json: JsonObject;
  /** Approximate tokens of the schema in a request. */
  readonly tokens: number;
  readonly check: Check;
  #spec: ToolSpec | undefined;

  constructor(toolName: string, source: InputSchema) {
    this.json = isStandard(source) ? toJsonSchema(toolName, source) : source;
    this.check = isStandard(source) ? checkStandard(source) : checkJson(source);
    if (this.json.type !== "object") {
      throw new AgentError("invalid_tool", `The arguments of tool "${toolName}" must be an object schema.`);
    }
    if (isDeeperThan(this.json, MAX_SCHEMA_DEPTH)) {
      const problem = `nested more than ${MAX_SCHEMA_DEPTH} levels deep`;
      throw new AgentError("invalid_tool", `The schema of tool "${toolName}" is ${problem}.`);
    }
    this.tokens = estimateTokens(JSON.stringify(this.json));
  }

  /**
   * Returns the same object for the same tool, because adapters cache by identity. Tools rarely share a schema, so only
   * one specification is cached.
   */
  getSpec({ name, description }: Tool): ToolSpec {
    if (this.#spec?.name !== name || this.#spec.description !== description) {
      if (typeof name !== "string" || !TOOL_NAME.test(name)) {
        const rule = "a name is 1 to 64 letters, digits, _ and -, as vendors ask for";
        throw new AgentError("invalid_tool", `No tool can be called "${reasonOf(name)}": ${rule}.`);
      }
      this.#spec = { name, description, inputSchema: this.json };
    }
    return this.#spec;
  }
}

type Standard = StandardSchemaV1<unknown, unknown>;

/** The schemas of some libraries are functions. */
function isStandard(schema: InputSchema): schema is Standard {
  return "~standard" in schema;
}

function offersJsonSchema(schema: Standard): schema is Standard & StandardJSONSchemaV1<unknown, unknown> {
  return "jsonSchema" in schema["~standard"];
}

function toJsonSchema(name: string, schema: Standard): JsonObject {
  const refused = (what: string, options?: ErrorOptions): AgentError =>
    new AgentError("invalid_tool", `The schema of tool "${name}" ${what}`, options);
  const { vendor } = schema["~standard"];
  if (!offersJsonSchema(schema)) throw refused(`(${vendor}) does not offer a JSON Schema for the model.`);
  let json: JsonValue;
  try {
    json = JSON.parse(JSON.stringify(schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })));
  } catch (error) {
    throw refused(`cannot be JSON Schema: ${reasonOf(error)}`, { cause: error });
  }
  if (!isJsonObject(json)) throw refused("is not an object.");
  const { $schema: _draft, ...rest } = json;
  return rest;
}

function checkJson(schema: JsonObject): Check {
  return async (args, limits) => {
    const validated = await race(validateJson(schema, args), limits);
    if (!validated.done) return undefined;
    return validated.value.length === 0 ? { args } : { problems: formatIssues(validated.value) };
  };
}

function checkStandard(schema: Standard): Check {
  return async (args, limits) => {
    const validated = await race(Promise.resolve(schema["~standard"].validate(args)), limits);
    if (!validated.done) return undefined;
    const result = validated.value;
    if (result.issues === undefined) return { args: result.value };
    const issues = result.issues.map((issue): SchemaIssue => {
      const path = (issue.path ?? []).map((part) => `/${String(typeof part === "object" ? part.key : part)}`);
      return { path: path.join(""), message: issue.message };
    });
    return { problems: formatIssues(issues) };
  };
}
