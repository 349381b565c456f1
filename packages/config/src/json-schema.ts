import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { z } from "zod";
import {
  accessSchema,
  agentDefaultsSchema,
  agentSchema,
  backupsSchema,
  bindingSchema,
  budgetSchema,
  channelSchema,
  gatewaySchema,
  hookSchema,
  linksSchema,
  mcpServerSchema,
  mediaSchema,
  memorySchema,
  pointHookSchema,
  providerSchema,
  repliesSchema,
  retentionSchema,
  sessionSchema,
  skillsSchema,
  storeSchema,
  telemetrySchema,
  toolsSchema,
} from "./schema/index.ts";
import { withReferences } from "./secret-references.ts";

type JsonSchema = Record<string, unknown>;

/** The part of a channel definition that describes its settings. */
interface ChannelSettings {
  readonly id: string;
  readonly meta: {
    readonly label: string;
    readonly fields: Readonly<Record<string, { readonly label: string; readonly hint?: string }>>;
  };
  /** A Standard Schema. It is described if its library can produce JSON Schema, as zod can. */
  readonly config: StandardSchemaV1;
}

/**
 * Returns the JSON Schema (draft 2020-12) of the file, for editors and `signalbox config schema`.
 *
 * @param channels channels whose account settings are described
 */
export function configJsonSchema(channels: readonly ChannelSettings[] = []): JsonSchema {
  const file = z.strictObject({
    gateway: gatewaySchema.optional(),
    store: storeSchema.optional(),
    models: z.strictObject({ providers: z.record(z.string(), providerSchema).optional() }).optional(),
    agents: z
      .strictObject({ defaults: agentDefaultsSchema.optional(), list: z.array(agentSchema).optional() })
      .optional(),
    channels: z
      .object(Object.fromEntries(channels.map((channel) => [channel.id, createChannelSchema(channel)])))
      .catchall(channelSchema)
      .optional(),
    bindings: z.array(bindingSchema).optional(),
    session: sessionSchema.optional(),
    replies: repliesSchema.optional(),
    access: accessSchema.optional(),
    hooks: z.record(z.string(), z.union([hookSchema, pointHookSchema])).optional(),
    tools: toolsSchema.optional(),
    mcp: z.strictObject({ servers: z.record(z.string(), mcpServerSchema).optional() }).optional(),
    links: linksSchema.optional(),
    retention: retentionSchema.optional(),
    backups: backupsSchema.optional(),
    media: mediaSchema.optional(),
    memory: memorySchema.optional(),
    budgets: z.array(budgetSchema).optional(),
    skills: skillsSchema.optional(),
    telemetry: telemetrySchema.optional(),
  });
  return withReferences({ ...z.toJSONSchema(file, { io: "input" }) });
}

function createChannelSchema({ meta, config }: ChannelSettings) {
  const account = accountSchema(config);
  const described = account === undefined ? {} : { ...account, properties: withHints(account, meta.fields) };
  const accounts = z.record(z.string(), z.unknown().meta(described));
  return channelSchema.extend({ accounts: accounts.optional() }).meta({ title: meta.label }).optional();
}

function accountSchema(config: StandardSchemaV1): JsonSchema | undefined {
  const standard: Partial<StandardJSONSchemaV1.Props> = config["~standard"];
  try {
    const { $schema: _, ...schema } = standard.jsonSchema?.input({ target: "draft-2020-12" }) ?? {};
    return Object.keys(schema).length === 0 ? undefined : schema;
  } catch {
    // The schema has parts that JSON Schema cannot express.
    return undefined;
  }
}

/** Returns the keys of a channel's account settings, or `undefined` if its schema does not list them. */
export function getAccountKeys({ config }: Pick<ChannelSettings, "config">): readonly string[] | undefined {
  const { properties } = accountSchema(config) ?? {};
  return isObject(properties) ? Object.keys(properties) : undefined;
}

function withHints(account: JsonSchema, fields: ChannelSettings["meta"]["fields"]): JsonSchema {
  const properties: JsonSchema = isObject(account["properties"]) ? account["properties"] : {};
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const field = fields[name];
      if (field === undefined || !isObject(property)) return [name, property];
      const description = [field.label, field.hint].filter((text) => text !== undefined).join(": ");
      return [name, { ...property, description }];
    }),
  );
}

function isObject(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
