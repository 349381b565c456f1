import { getToolSpec, type JsonObject, type Tool } from "@signalbox/agent-core";

/**
 * Converts the text after a command to tool arguments: the tool's only required string, or its only optional one.
 * Returns undefined if the tool cannot be called with plain text.
 */
export function parseToolArguments(tool: Tool, text: string): JsonObject | undefined {
  const { properties, required } = getToolSpec(tool).inputSchema;
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
