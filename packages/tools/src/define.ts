import type { InputSchema, JsonValue, ToolEffects } from "@signalbox/agent-core";
import type { ToolBlueprint } from "./types.ts";

/** The only way to a body. Not part of the package's surface: outside, a definition is all one can hold. */
const bodies = new WeakMap<ToolDefinition, ToolBlueprint>();

/** A tool whose body is locked away. Made by `defineTool`, opened by `createToolRunner`. */
export class ToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: InputSchema;
  readonly effects: ToolEffects;

  constructor(blueprint: Pick<ToolBlueprint, "name" | "description" | "inputSchema" | "effects">) {
    this.name = blueprint.name;
    this.description = blueprint.description;
    this.inputSchema = blueprint.inputSchema;
    this.effects = blueprint.effects;
    Object.freeze(this);
  }
}

/** Locks a tool's body away: what comes back can be listed and described, and run by a tool runner alone. */
export function defineTool<Args, Details extends JsonValue>(
  blueprint: ToolBlueprint<Args, Details>,
): ToolDefinition {
  const definition = new ToolDefinition(blueprint);
  bodies.set(definition, Object.freeze({ ...blueprint }));
  return definition;
}

/** For the runner. */
export function blueprintOf(definition: ToolDefinition): ToolBlueprint {
  const blueprint = bodies.get(definition);
  if (blueprint === undefined) throw new TypeError(`${definition.name} was not made by defineTool`);
  return blueprint;
}
