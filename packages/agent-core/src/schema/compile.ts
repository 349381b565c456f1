import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { AgentError, errorText } from "../errors.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { ToolSpec } from "../model.ts";
import type { Tool } from "../tool.ts";
import { compileJsonSchema, isJsonObject, type SchemaIssue } from "./json-schema.ts";

/** What checking arguments gave: the value the tool gets, or what is wrong, in lines for the model. */
export type Checked =
  | { readonly ok: true; readonly args: unknown }
  | { readonly ok: false; readonly problems: string };

/** A tool made ready once: what the model sees of it, and its check. */
export interface CompiledTool {
  readonly tool: Tool;
  readonly spec: ToolSpec;
  check(args: JsonObject): Checked | Promise<Checked>;
}

/** The tools of a run. `specs` is the same array for the same tools, so that an adapter can serialise it once. */
export interface ToolSet {
  readonly specs: readonly ToolSpec[];
  readonly byName: ReadonlyMap<string, CompiledTool>;
}

const compiled = new WeakMap<Tool, CompiledTool>();
const sets = new WeakMap<readonly Tool[], ToolSet>();

/** @throws AgentError `invalid_tool` */
export function compileTools(tools: readonly Tool[]): ToolSet {
  let set = sets.get(tools);
  if (set === undefined) {
    const byName = new Map<string, CompiledTool>();
    for (const tool of tools) {
      if (byName.has(tool.name)) throw new AgentError("invalid_tool", `Two tools are called "${tool.name}".`);
      byName.set(tool.name, compileTool(tool));
    }
    set = { specs: [...byName.values()].map((entry) => entry.spec), byName };
    sets.set(tools, set);
  }
  return set;
}

/** Compiled at first use and kept with the tool. */
function compileTool(tool: Tool): CompiledTool {
  let entry = compiled.get(tool);
  if (entry === undefined) {
    const { inputSchema } = tool;
    const json = isStandard(inputSchema) ? jsonSchemaOf(tool.name, inputSchema) : inputSchema;
    if (json.type !== "object") {
      throw new AgentError("invalid_tool", `The arguments of tool "${tool.name}" must be an object schema.`);
    }
    const spec: ToolSpec = { name: tool.name, description: tool.description, inputSchema: json };
    entry = { tool, spec, check: isStandard(inputSchema) ? checkStandard(inputSchema) : checkJson(json) };
    compiled.set(tool, entry);
  }
  return entry;
}

/** A tool's arguments as a model is shown them. @throws AgentError `invalid_tool` */
export function toolSpec(tool: Tool): ToolSpec {
  return compileTool(tool).spec;
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

function checkJson(schema: JsonObject): CompiledTool["check"] {
  const check = compileJsonSchema(schema);
  return (args) => {
    const issues = check(args);
    return issues.length === 0 ? { ok: true, args } : { ok: false, problems: lines(issues) };
  };
}

function checkStandard(schema: StandardSchemaV1<unknown, unknown>): CompiledTool["check"] {
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
