import * as protocol from "@signalbox/protocol";
import * as z from "zod/mini";
import { readSchemaDocs } from "./schema-docs.ts";

/** A JSON Schema, as far as this generator reads it. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly default?: unknown;
}

const PREFIX = "#/components/schemas/";

/** The schemas that the protocol exports, by name. */
const SCHEMAS: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.entries<unknown>(protocol).filter((entry): entry is [string, z.ZodMiniType] => isSchema(entry[1])),
);

function isSchema(value: unknown): value is z.ZodMiniType {
  return typeof value === "object" && value !== null && "_zod" in value;
}

/** Converts the schemas of the protocol, with descriptions from the comments of their sources. */
export function createComponents(): Readonly<Record<string, JsonSchema>> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of SCHEMAS) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => `${PREFIX}${id}` });
  const docs = readSchemaDocs();
  return Object.fromEntries(
    Object.entries(schemas)
      .filter(([id]) => SCHEMAS.has(id))
      .map(([id, schema]) => {
        const { $schema: _, $id: __, ...rest } = Object(schema);
        return [id, describe(rest, docs.get(id))];
      }),
  );
}

/** Returns a schema for use in a route: a reference if the protocol exports it, or the schema itself. */
export function getRouteSchema(schema: z.ZodMiniType): JsonSchema {
  for (const [id, known] of SCHEMAS) if (known === schema) return { $ref: PREFIX + id };
  const { $schema: _, ...rest } = Object(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }));
  return rest;
}

/** Creates the OpenAPI 3.1 document of `/api`. */
export function createOpenApi(): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of protocol.API_ROUTES) {
    const path = route.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: createOperation(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Signalbox API",
      version: String(protocol.PROTOCOL),
      description: "The HTTP API of a Signalbox gateway for its web page and for programs.",
      license: { name: "MIT" },
    },
    servers: [{ url: "http://127.0.0.1:4747" }],
    security: [{ token: [] }, { cookie: [], sessionKey: [] }],
    paths,
    components: {
      schemas: createComponents(),
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        cookie: { type: "apiKey", in: "cookie", name: "signalbox-4747" },
        sessionKey: { type: "apiKey", in: "header", name: protocol.SESSION_KEY_HEADER },
      },
    },
  };
}

function createOperation(route: protocol.ApiRoute): object {
  const { path, summary, access, query, body, response, isStream, errors = {} } = route;
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const { properties = {}, required = [] } = resolveQuery(query);
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
  const error = { "application/json": { schema: { $ref: `${PREFIX}ErrorBody` } } };
  return {
    summary,
    security: access === "public" ? [] : undefined,
    description:
      access === "public" || access === "client"
        ? undefined
        : `Requires a token with the scope \`${access}\`.`,
    parameters: [...inPath, ...inQuery],
    requestBody: body === undefined ? undefined : { required: true, content: createContent(body) },
    responses: {
      ...(response === undefined
        ? { 204: { description: "Done." } }
        : {
            200: {
              description: "Success.",
              content: {
                [isStream ? "text/event-stream" : "application/json"]: { schema: getRouteSchema(response) },
              },
            },
          }),
      ...Object.fromEntries(
        Object.entries(errors).map(([status, description]) => [status, { description, content: error }]),
      ),
      default: { description: "An error.", content: error },
    },
  };
}

function createContent(body: z.ZodMiniType | "bytes"): object {
  if (body === "bytes")
    return { "application/octet-stream": { schema: { type: "string", contentEncoding: "binary" } } };
  return { "application/json": { schema: getRouteSchema(body) } };
}

/** Returns the schema of the query parameters of a route, without a reference. */
export function resolveQuery(query: z.ZodMiniType | undefined): JsonSchema {
  if (query === undefined) return {};
  const schema = getRouteSchema(query);
  const id = schema.$ref?.slice(PREFIX.length);
  return id === undefined ? schema : (createComponents()[id] ?? {});
}

function describe(schema: JsonSchema, docs: SchemaDoc | undefined): JsonSchema {
  if (docs === undefined) return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const description = docs.fields.get(name);
    return [name, description === undefined ? property : { ...property, description }];
  });
  return {
    ...schema,
    ...(docs.summary === undefined ? {} : { description: docs.summary }),
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
  };
}

type SchemaDoc = ReturnType<typeof readSchemaDocs> extends ReadonlyMap<string, infer Doc> ? Doc : never;
