import { API_ROUTES, type ApiRoute } from "@signalbox/protocol";
import { createComponents, getRouteSchema, type JsonSchema, resolveQuery } from "./open-api.ts";

const ACCESS: Readonly<Record<ApiRoute["access"], string>> = {
  public: "No credential.",
  client: "Any token or session.",
  chat: "Scope `chat`.",
  read: "Scope `read`.",
  write: "Scope `write`.",
  owner: "Scope `owner`.",
};

/** Creates the page about the HTTP API from the routes and schemas of the protocol. */
export function createHttpApiPage(): string {
  const components = createComponents();
  const rows = API_ROUTES.map(
    ({ method, path, summary, access }) =>
      `| [\`${method} ${path}\`](#${createAnchor(method, path)}) | ${summary} | ${access} |`,
  );
  const types = Object.entries(components)
    .filter(([name]) => !name.endsWith("Frame"))
    .toSorted(([a], [b]) => a.localeCompare(b));
  const frames = (names: readonly string[]) =>
    names.flatMap((name) => createTypeSection(name, components[name] ?? {}));
  return `${[
    HEAD,
    "## Routes",
    ["| route | purpose | access |", "| --- | --- | --- |", ...rows].join("\n"),
    ...API_ROUTES.flatMap((route) => createRouteSection(route)),
    SOCKET,
    "### Frames from the client",
    ...frames(Object.keys(components).filter((name) => CLIENT_FRAMES.has(name))),
    "### Frames from the gateway",
    ...frames(Object.keys(components).filter((name) => name.endsWith("Frame") && !CLIENT_FRAMES.has(name))),
    "## Types",
    ...types.flatMap(([name, schema]) => createTypeSection(name, schema)),
  ].join("\n\n")}\n`;
}

const CLIENT_FRAMES: ReadonlySet<string> = new Set([
  "ClientFrame",
  "SubscribeFrame",
  "UnsubscribeFrame",
  "SendFrame",
  "AbortFrame",
  "WatchFrame",
  "UnwatchFrame",
  "PingFrame",
]);

function createAnchor(method: string, path: string): string {
  return `${method} ${path}`
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
}

function createRouteSection(route: ApiRoute): string[] {
  const { method, path, summary, access, isSensitive, body, response, isStream, errors = {} } = route;
  const lines = [
    `- Access: ${ACCESS[access]}${isSensitive ? " A browser session must have signed in within the last hour." : ""}`,
    ...(body === undefined
      ? []
      : [`- Body: ${body === "bytes" ? "`application/octet-stream`" : formatType(getRouteSchema(body))}`]),
    `- Response: ${describeResponse(response, isStream)}`,
    ...Object.entries(errors).map(([status, text]) => `- ${status}: ${text}`),
  ];
  const query = resolveQuery(route.query);
  return [
    `### ${method} ${path}`,
    summary,
    lines.join("\n"),
    ...(query.properties === undefined ? [] : [createTable("query parameter", query)]),
  ];
}

function describeResponse(response: ApiRoute["response"], isStream: true | undefined): string {
  if (response === undefined) return "204.";
  const type = formatType(getRouteSchema(response));
  return isStream ? `server-sent events with ${type} as data, and the cursor as id` : type;
}

function createTypeSection(name: string, schema: JsonSchema): string[] {
  const kinds = schema.anyOf ?? schema.oneOf;
  return [
    `### ${name}`,
    ...(schema.description === undefined ? [] : [schema.description]),
    ...(kinds === undefined ? [] : [`One of: ${kinds.map(formatType).join(", ")}.`]),
    ...(kinds === undefined && schema.properties === undefined ? [`Type: ${formatType(schema)}.`] : []),
    ...(schema.properties === undefined ? [] : [createTable("field", schema)]),
  ];
}

function createTable(heading: string, { properties = {}, required = [] }: JsonSchema): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? "" : " (optional)";
    return `| \`${name}\`${optional} | ${escapeCell(formatType(schema))} | ${escapeCell(schema.description ?? "")} |`;
  });
  return [`| ${heading} | type | meaning |`, "| --- | --- | --- |", ...rows].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

/** Describes a type in one line, with links to named types. */
function formatType(schema: JsonSchema): string {
  const {
    $ref,
    const: only,
    enum: values,
    anyOf,
    oneOf,
    items,
    type,
    properties,
    additionalProperties,
  } = schema;
  if ($ref !== undefined) {
    const name = $ref.slice($ref.lastIndexOf("/") + 1);
    return `[${name}](#${name.toLowerCase()})`;
  }
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values !== undefined) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const kinds = anyOf ?? oneOf;
  if (kinds !== undefined) return kinds.map(formatType).join(" or ");
  if (items !== undefined) return `array of ${formatType(items)}`;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, field]) => `${name}: ${formatType(field)}`);
    return `{ ${fields.join(", ")} }`;
  }
  if (typeof additionalProperties === "object") return `map of ${formatType(additionalProperties)}`;
  return typeof type === "object" ? type.join(" or ") : (type ?? "any JSON value");
}

const HEAD = `# HTTP API

The gateway serves this API at \`/api\` and \`/ws\` for its web page and for programs. [\`@signalbox/client\`](../packages/client/README.md) implements it for TypeScript. The site has it as OpenAPI (\`openapi.json\`) too. For OpenAI clients there is \`/v1\` ([models and clients](guides/models.md#openai-clients)).

Send a token as \`Authorization: Bearer <token>\` ([tokens and their scopes](security.md#tokens-and-sessions)). Bodies are JSON with \`Content-Type: application/json\`. Times are milliseconds since the epoch. An error has the body [ErrorBody](#errorbody), with a \`code\` for programs, a \`message\` for people and often a \`remedy\`.

\`\`\`sh
curl http://127.0.0.1:4747/api/status -H "Authorization: Bearer $(cat ~/.signalbox/token)"
\`\`\`

> Generated from \`packages/protocol\`.`;

const SOCKET = `## WebSocket

\`/ws\` carries frames, one JSON object per message. A program authenticates with the \`Authorization\` header. After \`ready\`, the client subscribes to conversations and sends messages. Unknown fields and frame types must be ignored. The gateway closes the socket with the code 4401 when the token or session is no longer valid.`;
