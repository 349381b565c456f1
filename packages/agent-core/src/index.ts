export * from "./agent.ts";
export type * from "./config.ts";
export type * from "./content.ts";
export { textOf } from "./content.ts";
export { type Compaction, type CompactionRequest, compact } from "./context/compact.ts";
export * from "./context/prune.ts";
export { maxResultChars, truncateText } from "./context/truncate.ts";
export { convertToLlm } from "./conversation/convert.ts";
export {
  type RepairChange,
  type RepairedHistory,
  type RepairOptions,
  repairHistory,
} from "./conversation/repair.ts";
export { turnStart } from "./conversation/request-view.ts";
export { type Unanswered, unansweredCalls } from "./conversation/tool-calls.ts";
export * from "./define-tool.ts";
export { AgentError, type AgentErrorCode, isAgentError, reasonOf } from "./errors.ts";
export type * from "./events.ts";
export type * from "./hooks.ts";
export type * from "./json.ts";
export { isDeeperThan, isJsonObject, MAX_JSON_DEPTH, toWellFormed } from "./json.ts";
export { runAgentLoop } from "./loop/agent-loop.ts";
export { AgentRun, agentLoop } from "./loop/agent-run.ts";
export { type BrokenStream, SoundStream } from "./loop/sound-stream.ts";
export { soundTurn } from "./loop/sound-turn.ts";
export { soundResult } from "./loop/tool-result.ts";
export type * from "./messages.ts";
export type * from "./model.ts";
export type * from "./model-error.ts";
export * from "./partial-json.ts";
export * from "./pictures.ts";
export * from "./snapshot.ts";
export * from "./stop-reasons.ts";
export * from "./stream-of.ts";
export { estimateRequest, estimateTokens } from "./tokens.ts";
export * from "./tool.ts";
export { toolSpec } from "./tools/tool-set.ts";
export { addUsage, NO_USAGE, type Usage } from "./usage.ts";
