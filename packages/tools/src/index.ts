export {
  type Approval,
  type ApprovalRequest,
  type ApprovalState,
  type Approvals,
  createMemoryApprovals,
  type MemoryApprovalsOptions,
  type ResolveOutcome,
} from "./approvals.ts";
export { adoptTool, defineTool, type ToolDefinition } from "./define.ts";
export { checkToolNames, decide, type ToolPolicy, type ToolRule, type UnknownToolName } from "./policy.ts";
export { createRunState, type RunState } from "./run-state.ts";
export {
  createToolRunner,
  type DirectCallOptions,
  type RunTools,
  type ToolRunner,
  type ToolRunnerOptions,
} from "./runner.ts";
export type * from "./types.ts";
export { WorkspaceError, type WorkspaceErrorCode } from "./workspace/errors.ts";
export {
  type FolderEntry,
  type OpenFile,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
  type WriteOptions,
} from "./workspace/workspace.ts";
