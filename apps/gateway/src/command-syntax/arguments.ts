import { type JsonObject, type Tool, toolSpec } from "@signalbox/agent-core";

/**
 * What was written after a command, as the one text that a tool needs; where it needs none, as the one that it may
 * have. Undefined for a tool that cannot be called with plain text.
 */
export function argumentsOf(tool: Tool, text: string): JsonObject | undefined {
  const { properties, required } = toolSpec(tool).inputSchema;
  const needed = Array.isArray(required) ? required : [];
  const offered =
    properties !== null && typeof properties === "object" && !Array.isArray(properties) ? properties : {};
  const texts = Object.entries(offered).flatMap(([name, schema]) => (isPlainText(schema) ? [name] : []));
  if (needed.length === 0) {
    const [only] = texts;
    return text === "" ? {} : only === undefined ? undefined : { [only]: text };
  }
  const [name] = needed;
  return needed.length === 1 && typeof name === "string" && texts.includes(name)
    ? { [name]: text }
    : undefined;
}

function isPlainText(schema: unknown): boolean {
  return (
    schema !== null &&
    typeof schema === "object" &&
    "type" in schema &&
    schema.type === "string" &&
    !("enum" in schema)
  );
}
