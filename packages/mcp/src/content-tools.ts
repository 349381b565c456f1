import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "@signalbox/agent-core";
import type { ContentMethod, ToolDescription } from "./definitions.ts";
import { toolPrefix } from "./types.ts";

/** The capabilities of a server that decide which tools it gets from us. */
export interface ContentCapabilities {
  readonly tools?: object;
  readonly resources?: object;
  readonly prompts?: object;
}

/** Maximum number of listed resources or prompts in one result. */
const MAX_ITEMS = 200;
const MAX_FIELD_CHARS = 300;

const page = { cursor: { type: "string", description: "Continues a list, as its last line says." } };

/** Their texts are ours, so that a server cannot write into the prompt with the names of its resources. */
const TOOLS: readonly {
  readonly ownName: string;
  readonly content: ContentMethod;
  readonly description: string;
  readonly inputSchema: JsonObject;
}[] = [
  {
    ownName: "list_resources",
    content: "resources/list",
    description: "Lists the resources (files, records, documents) that this server offers, with their URIs.",
    inputSchema: { type: "object", properties: page },
  },
  {
    ownName: "list_resource_templates",
    content: "resources/templates/list",
    description:
      "Lists templates of URIs of this server's resources, such as `table://{name}`, to be filled in.",
    inputSchema: { type: "object", properties: page },
  },
  {
    ownName: "read_resource",
    content: "resources/read",
    description: "Reads a resource of this server.",
    inputSchema: {
      type: "object",
      properties: { uri: { type: "string", description: "URI of the resource." } },
      required: ["uri"],
    },
  },
  {
    ownName: "list_prompts",
    content: "prompts/list",
    description:
      "Lists the prompts (templates of instructions) that this server offers, with their arguments.",
    inputSchema: { type: "object", properties: page },
  },
  {
    ownName: "get_prompt",
    content: "prompts/get",
    description: "Returns a prompt of this server, filled in with arguments.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "Name of the prompt." },
        arguments: {
          type: "object",
          description: "Values of its arguments, as texts.",
          additionalProperties: { type: "string" },
        },
      },
      required: ["name"],
    },
  },
];

/** Returns the tools that read the resources and prompts of a server. */
export function listContentTools(server: string, capabilities: ContentCapabilities): ToolDescription[] {
  return TOOLS.filter(({ content }) =>
    content.startsWith("resources/") ? capabilities.resources : capabilities.prompts,
  ).map((tool) => ({
    ...tool,
    name: toolPrefix(server) + tool.ownName,
    hash: createHash("sha256").update(JSON.stringify(tool)).digest("hex"),
  }));
}

/** A JSON-RPC request. */
interface ContentRequest {
  readonly method: ContentMethod;
  readonly params: Record<string, unknown>;
}

/** Converts the arguments of such a tool to a request. */
export function toContentRequest(content: ContentMethod, args: JsonObject): ContentRequest {
  const { cursor, uri, name } = args;
  switch (content) {
    case "resources/list":
    case "resources/templates/list":
    case "prompts/list":
      return { method: content, params: typeof cursor === "string" ? { cursor } : {} };
    case "resources/read":
      return { method: content, params: { uri: String(uri) } };
    case "prompts/get": {
      const values = isJsonObject(args["arguments"]) ? args["arguments"] : {};
      const texts = Object.entries(values).map(([key, value]) => [key, toText(value)]);
      return { method: content, params: { name: String(name), arguments: Object.fromEntries(texts) } };
    }
    default:
      return content satisfies never;
  }
}

/**
 * Converts the server's answer to the form of a tool result.
 *
 * @returns the answer itself if it has another form
 */
export function readContent(content: ContentMethod, answer: unknown): unknown {
  if (!isJsonObject(answer)) return answer;
  const { resources, resourceTemplates, prompts, contents, messages, nextCursor } = answer;
  if (content === "resources/list" && Array.isArray(resources)) return toList(resources, "uri", nextCursor);
  if (content === "resources/templates/list" && Array.isArray(resourceTemplates))
    return toList(resourceTemplates, "uriTemplate", nextCursor);
  if (content === "prompts/list" && Array.isArray(prompts)) return toList(prompts, "name", nextCursor);
  if (content === "resources/read" && Array.isArray(contents))
    return { content: contents.map((resource) => ({ type: "resource", resource })) };
  if (content === "prompts/get" && Array.isArray(messages))
    return {
      content: messages.flatMap((message) =>
        isJsonObject(message) ? [`[${toText(message["role"])}]`, message["content"] ?? ""] : [],
      ),
    };
  return { isError: true, content: "The server's answer does not have the expected form." };
}

/** The member that identifies an item. */
type ItemKey = "uri" | "uriTemplate" | "name";

/** One line for each item, with its identifier first. */
function toList(items: readonly unknown[], key: ItemKey, cursor: JsonValue | undefined): JsonObject {
  const lines = items.slice(0, MAX_ITEMS).map((item) => (isJsonObject(item) ? describeItem(item, key) : ""));
  if (items.length > MAX_ITEMS) lines.push(`[${items.length - MAX_ITEMS} more on this page are not shown]`);
  if (typeof cursor === "string" && cursor !== "") lines.push(`[more with cursor ${JSON.stringify(cursor)}]`);
  return { content: lines.length === 0 ? "There are none." : lines.join("\n") };
}

function describeItem(item: JsonObject, key: ItemKey): string {
  const { name, title, mimeType, description, arguments: args } = item;
  const parameters = Array.isArray(args)
    ? args.flatMap((one) =>
        isJsonObject(one) ? `${toText(one["name"])}${one["required"] === true ? "" : "?"}` : [],
      )
    : [];
  const fields = [
    `${toText(item[key])}${parameters.length === 0 ? "" : `(${parameters.join(", ")})`}`,
    key === "name" ? title : (title ?? name),
    mimeType,
    description,
  ];
  return fields
    .flatMap((field) => (typeof field === "string" && field !== "" ? toText(field) : []))
    .join(" · ");
}

function toText(value: JsonValue | undefined): string {
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  return text.replace(/\s+/g, " ").slice(0, MAX_FIELD_CHARS);
}
