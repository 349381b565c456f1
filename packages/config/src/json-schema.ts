import { z } from "zod";
import {
  accessSchema,
  agentDefaultsSchema,
  agentSchema,
  bindingSchema,
  channelSchema,
  gatewaySchema,
  hookSchema,
  linksSchema,
  providerSchema,
  repliesSchema,
  retentionSchema,
  sessionSchema,
  skillsSchema,
  toolsSchema,
} from "./schema.ts";

/** The whole file as JSON Schema (draft 2020-12), for editors and `signalbox config schema`. */
export function configJsonSchema(): Record<string, unknown> {
  const file = z.strictObject({
    gateway: gatewaySchema.optional(),
    models: z.strictObject({ providers: z.record(z.string(), providerSchema).optional() }).optional(),
    agents: z
      .strictObject({ defaults: agentDefaultsSchema.optional(), list: z.array(agentSchema).optional() })
      .optional(),
    channels: z.record(z.string(), channelSchema).optional(),
    bindings: z.array(bindingSchema).optional(),
    session: sessionSchema.optional(),
    replies: repliesSchema.optional(),
    access: accessSchema.optional(),
    hooks: z.record(z.string(), hookSchema).optional(),
    tools: toolsSchema.optional(),
    links: linksSchema.optional(),
    retention: retentionSchema.optional(),
    skills: skillsSchema.optional(),
  });
  return { ...z.toJSONSchema(file, { io: "input" }) };
}
