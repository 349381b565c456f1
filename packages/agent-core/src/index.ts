export { Agent, type AgentInput, type AgentListener, type AgentState, type EventsOptions } from "./agent.ts";
export type * from "./config.ts";
export type * from "./content.ts";
export { convertToLlm } from "./conversation/convert.ts";
export { type Unanswered, unansweredCalls } from "./conversation/pending.ts";
export {
  type RepairChange,
  type RepairedHistory,
  type RepairOptions,
  repairHistory,
} from "./conversation/repair.ts";
export { AgentError, type AgentErrorCode, isAgentError } from "./errors.ts";
export type * from "./events.ts";
export type * from "./hooks.ts";
export type * from "./json.ts";
export { type AgentRun, agentLoop, runAgentLoop } from "./loop/agent-loop.ts";
export type * from "./messages.ts";
export type * from "./model.ts";
export { type Compaction, type CompactionRequest, compact } from "./overflow/compact.ts";
export { turnStart } from "./overflow/history-turns.ts";
export { type Pruned, type PruneOptions, pruneToolResults } from "./overflow/prune.ts";
export { maxResultChars, truncateText } from "./overflow/truncate.ts";
export { truncateContent } from "./overflow/truncate-content.ts";
export { parsePartialJson } from "./partial-json.ts";
export { toolSpec } from "./schema/compile.ts";
export type { SchemaIssue } from "./schema/issues.ts";
export { compileJsonSchema } from "./schema/json-schema.ts";
export { Snapshot } from "./snapshot.ts";
export { STOP_REASONS, type StopReasonRule } from "./stop-reasons.ts";
export { streamOf } from "./stream-of.ts";
export { estimateTokens } from "./tokens.ts";
export type * from "./tool.ts";
export { addUsage } from "./usage.ts";
