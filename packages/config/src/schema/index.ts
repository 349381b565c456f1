export { agentDefaultsSchema, agentSchema, bindingSchema } from "./agents.ts";
export { budgetSchema } from "./budgets.ts";
export { accessSchema, channelSchema, linksSchema, repliesSchema, sessionSchema } from "./channels.ts";
export { gatewaySchema } from "./gateway.ts";
export { mediaSchema, memorySchema, retentionSchema, skillsSchema } from "./keeping.ts";
export { providerSchema } from "./models.ts";
export { hookSchema, mcpServerSchema, pointHookSchema, toolsSchema, webSchema } from "./tools.ts";
export type * from "./types.ts";
