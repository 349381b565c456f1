export { Agent, type AgentInput, type AgentState } from "./agent.ts";
export { AgentRun, agentLoop } from "./agent-run.ts";
export { CodedError } from "./coded-error.ts";
export type * from "./config.ts";
export type * from "./content.ts";
export { textOf, withContent } from "./content.ts";
export { type Compaction, type CompactionRequest, compact } from "./context/compact.ts";
export { convertToLlm } from "./conversation/convert.ts";
export { type RepairChange, type RepairedHistory, repairHistory } from "./conversation/repair.ts";
export {
  type DefinedToolContext,
  defineTool,
  type ToolArgs,
  type ToolDefinition,
  type ToolOutput,
} from "./define-tool.ts";
export { AgentError, type AgentErrorCode, isAgentError, reasonOf } from "./errors.ts";
export type * from "./events.ts";
export type * from "./hooks.ts";
export { IMAGE_LIMITS, type ImageInfo, isAcceptedImage, readImageInfo } from "./images.ts";
export {
  canonicalJson,
  isDeeperThan,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_JSON_DEPTH,
  toWellFormed,
} from "./json.ts";
export { runAgentLoop } from "./loop/agent-loop.ts";
export { validateResult } from "./loop/tool-result.ts";
export { validateTurn } from "./loop/validate-turn.ts";
export { ValidatedStream } from "./loop/validated-stream.ts";
export type * from "./messages.ts";
export type * from "./model.ts";
export type * from "./model-error.ts";
export { Snapshot } from "./snapshot.ts";
export {
  END_REASONS,
  type EndReasonRule,
  getStopReason,
  isEndReason,
  STOP_REASONS,
  type StopReasonRule,
} from "./stop-reasons.ts";
export { toStream } from "./to-stream.ts";
export { estimateRequest, estimateTokens } from "./tokens.ts";
export {
  type InputSchema,
  isHarmless,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolEffects,
  type ToolResult,
} from "./tool.ts";
export { getToolSpec } from "./tools/tool-set.ts";
export { addModelUsage, addUsage, type ModelUsage, NO_USAGE, type Usage } from "./usage.ts";
