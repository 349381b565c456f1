export { SubAgentError } from "./limits.ts";
export { createMemorySubAgentStore } from "./records.ts";
export {
  createSubAgents,
  type NewSubAgent,
  type SubAgents,
  type SubAgentsOptions,
} from "./sub-agents.ts";
export type * from "./types.ts";
