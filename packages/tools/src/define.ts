import type { InputSchema, JsonValue, ToolEffects } from "@signalbox/agent-core";
import type { ToolBlueprint } from "./types.ts";

/**
 * The implementations of all definitions. This map is not exported from the package, so only a tool runner can call
 * them.
 */
const bodies = new WeakMap<ToolDefinition, ToolBlueprint>();

/** A tool that can be listed but not called. Created by `defineTool` and run by `createToolRunner`. */
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

/**
 * Defines a tool. The result can be listed and described, but only a tool runner can run it.
 *
 * @example
 * const weather = defineTool({
 *   name: "weather",
 *   description: "Return the weather of a city.",
 *   inputSchema: z.object({ city: z.string() }),
 *   effects: "none",
 *   taints: "web",
 *   run: async ({ args }, { signal }) => ({ city: args.city, celsius: await getTemperature(args.city, signal) }),
 * });
 */
export function defineTool<Args, Details extends JsonValue>(
  blueprint: ToolBlueprint<Args, Details>,
): ToolDefinition {
  const definition = new ToolDefinition(blueprint);
  bodies.set(definition, Object.freeze({ ...blueprint }));
  return definition;
}

/** Returns the blueprint of a definition, for the tool runner. */
export function getBlueprint(definition: ToolDefinition): ToolBlueprint {
  const blueprint = bodies.get(definition);
  if (blueprint === undefined) throw new TypeError(`${definition.name} was not created by defineTool`);
  return blueprint;
}
