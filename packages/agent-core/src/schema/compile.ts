import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { AgentError, errorText } from "../errors.ts";
import { isDeeperThan, type JsonObject, type JsonValue } from "../json.ts";
import type { ToolSpec } from "../model.ts";
import { estimateTokens } from "../tokens.ts";
import type { InputSchema, Tool } from "../tool.ts";
import { isJsonObject, type SchemaIssue } from "./issues.ts";
import { compileJsonSchema } from "./json-schema.ts";

/** What checking arguments gave: the value the tool gets, or what is wrong, in lines for the model. */
export type Checked =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly problems: string };

/** What every vendor takes; OpenAI's is the narrowest. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Levels of a schema, each of which is several of what it describes. What reads it (also a vendor) may walk it by recursion. */
const MAX_SCHEMA_DEPTH = 256;

type Check = (args: JsonObject) => Checked | Promise<Checked>;

/** A tool and the check of its arguments. */
export interface CompiledTool {
  readonly tool: Tool;
  readonly schema: CompiledSchema;
}

/** The tools of a run. */
export class ToolSet {
  readonly specs: readonly ToolSpec[];
  /** What the schemas cost in a request, about. */
  readonly schemaTokens: number;
  /** No more than this many tokens in a request, names and descriptions included. */
  readonly mostTokens: number;
  readonly #tools: readonly Tool[];
  #byName: Map<string, CompiledTool> | undefined;

  constructor(tools: readonly Tool[], specs: readonly ToolSpec[], schemaTokens: number, mostTokens: number) {
    this.#tools = tools;
    this.specs = specs;
    this.schemaTokens = schemaTokens;
    this.mostTokens = mostTokens;
  }

  /** Made when the first tool is called: most turns call none. */
  get byName(): ReadonlyMap<string, CompiledTool> {
    this.#byName ??= new Map(this.#tools.map((tool) => [tool.name, { tool, schema: compileSchema(tool) }]));
    return this.#byName;
  }
}

const schemas = new WeakMap<InputSchema, CompiledSchema>();

/** @throws AgentError `invalid_tool` */
export function compileTools(tools: readonly Tool[]): ToolSet {
  const given: Tool[] = [];
  const specs: ToolSpec[] = [];
  let schemaTokens = 0;
  let mostTokens = 0;
  for (let i = 0; i < tools.length; i++) {
    const tool = tools[i];
    if (tool === undefined) continue;
    const schema = compileSchema(tool);
    const spec = schema.specOf(tool);
    given.push(tool);
    specs.push(spec);
    schemaTokens += schema.tokens;
    mostTokens += schema.tokens + spec.name.length + spec.description.length;
  }
  if (given.length > 1) throwTwins(given);
  return new ToolSet(given, specs, schemaTokens, mostTokens);
}

function throwTwins(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const { name } of tools) {
    if (names.has(name)) throw new AgentError("invalid_tool", `Two tools are called "${name}".`);
    names.add(name);
  }
}

/** Made at first use and kept with the schema, so that an application may make its tools anew for each run. */
function compileSchema(tool: Tool): CompiledSchema {
  let schema = schemas.get(tool.inputSchema);
  if (schema === undefined) {
    schema = new CompiledSchema(tool.name, tool.inputSchema);
    schemas.set(tool.inputSchema, schema);
  }
  return schema;
}

/** A schema as JSON, and its check, which is compiled when it is first needed. */
class CompiledSchema {
  readonly json: JsonObject;
  /** What the schema costs in a request, about. */
  readonly tokens: number;
  readonly #source: InputSchema;
  #check: Check | undefined;
  #spec: ToolSpec | undefined;

  constructor(toolName: string, source: InputSchema) {
    this.#source = source;
    this.json = isStandard(source) ? jsonSchemaOf(toolName, source) : source;
    if (this.json.type !== "object") {
      throw new AgentError("invalid_tool", `The arguments of tool "${toolName}" must be an object schema.`);
    }
    if (isDeeperThan(this.json, MAX_SCHEMA_DEPTH)) {
      const what = `more than ${MAX_SCHEMA_DEPTH} levels inside one another`;
      throw new AgentError("invalid_tool", `The schema of tool "${toolName}" has ${what}.`);
    }
    this.tokens = estimateTokens(JSON.stringify(this.json));
  }

  /** The same object for the same tool, which adapters go by. Two tools rarely share a schema, so one is kept. */
  specOf({ name, description }: Tool): ToolSpec {
    if (this.#spec?.name !== name || this.#spec.description !== description) {
      if (typeof name !== "string" || !TOOL_NAME.test(name)) {
        const rule = "a name is 1 to 64 letters, digits, _ and -, as vendors ask for";
        throw new AgentError("invalid_tool", `No tool can be called "${errorText(name)}": ${rule}.`);
      }
      this.#spec = { name, description, inputSchema: this.json };
    }
    return this.#spec;
  }

  check(args: JsonObject): Checked | Promise<Checked> {
    this.#check ??= isStandard(this.#source) ? checkStandard(this.#source) : checkJson(this.json);
    return this.#check(args);
  }
}

/** A tool's arguments as a model is shown them. @throws AgentError `invalid_tool` */
export function toolSpec(tool: Tool): ToolSpec {
  return compileSchema(tool).specOf(tool);
}

function isStandard(schema: unknown): schema is StandardSchemaV1<unknown, unknown> {
  // Some libraries' schemas are functions.
  if ((typeof schema !== "object" && typeof schema !== "function") || schema === null) return false;
  const standard: unknown = Reflect.get(schema, "~standard");
  return typeof standard === "object" && standard !== null && "validate" in standard;
}

function offersJsonSchema(schema: object): schema is StandardJSONSchemaV1<unknown, unknown> {
  const standard: unknown = Reflect.get(schema, "~standard");
  return typeof standard === "object" && standard !== null && "jsonSchema" in standard;
}

function jsonSchemaOf(name: string, schema: StandardSchemaV1<unknown, unknown>): JsonObject {
  if (!offersJsonSchema(schema)) {
    throw new AgentError(
      "invalid_tool",
      `The schema of tool "${name}" (${schema["~standard"].vendor}) does not offer a JSON Schema for the model.`,
    );
  }
  let json: JsonValue;
  try {
    json = JSON.parse(JSON.stringify(schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })));
  } catch (error) {
    const why = errorText(error);
    throw new AgentError("invalid_tool", `The schema of tool "${name}" cannot be JSON Schema: ${why}`, {
      cause: error,
    });
  }
  if (!isJsonObject(json))
    throw new AgentError("invalid_tool", `The schema of tool "${name}" is not an object.`);
  const { $schema: _draft, ...rest } = json;
  return rest;
}

function checkJson(schema: JsonObject): Check {
  const check = compileJsonSchema(schema);
  return (args) => {
    const issues = check(args);
    return issues.length === 0 ? { ok: true, args } : { ok: false, problems: lines(issues) };
  };
}

function checkStandard(schema: StandardSchemaV1<unknown, unknown>): Check {
  const { validate } = schema["~standard"];
  return (args) => {
    const result = validate(args);
    return result instanceof Promise ? result.then(checkedFrom) : checkedFrom(result);
  };
}

function checkedFrom(result: StandardSchemaV1.Result<unknown>): Checked {
  if (result.issues === undefined) return { ok: true, args: result.value };
  const issues = result.issues.map((issue): SchemaIssue => {
    const path = (issue.path ?? []).map((part) => `/${String(typeof part === "object" ? part.key : part)}`);
    return { path: path.join(""), message: issue.message };
  });
  return { ok: false, problems: lines(issues) };
}

function lines(issues: readonly SchemaIssue[]): string {
  return issues
    .slice(0, 12)
    .map((issue) => `- ${issue.path === "" ? "the arguments" : issue.path}: ${issue.message}`)
    .join("\n");
}
