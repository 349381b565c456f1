export {
  type Approval,
  type ApprovalChange,
  type ApprovalRequest,
  type ApprovalState,
  type ApprovalStore,
  type Asked,
  createMemoryApprovalStore,
} from "./approval-store.ts";
export {
  type Approvals,
  type ApprovalsOptions,
  type ApprovedCall,
  createApprovals,
  expireApprovals,
  type ResolveOutcome,
} from "./approvals.ts";
export type { AttachmentSource } from "./attachments.ts";
export {
  type BackgroundProcess,
  createProcesses,
  type Processes,
  type ProcessesOptions,
} from "./background/processes.ts";
export { createProcessTool, type ProcessToolOptions } from "./background/tool.ts";
export { BUILT_IN_TOOLS } from "./built-in.ts";
export { type CronRequest, type CronToolOptions, createCronTool } from "./cron.ts";
export {
  type ApprovalDecision,
  createDecisions,
  type Decisions,
  type DecisionsOptions,
} from "./decisions.ts";
export { defineTool, type ToolDefinition } from "./define.ts";
export { createExecTool, type ExecToolOptions } from "./exec.ts";
export { type ExplainedUse, explainUse, proveReach, type Reach, type ReachProof } from "./explain.ts";
export { type ApplyPatchToolOptions, createApplyPatchTool } from "./files/apply-patch.ts";
export { createEditTool, type EditToolOptions } from "./files/edit.ts";
export { createFindTool, type FindToolOptions } from "./files/find.ts";
export { createGrepTool, type GrepToolOptions } from "./files/grep.ts";
export { claimsOn } from "./files/identity-files.ts";
export { createLsTool, type LsToolOptions } from "./files/ls.ts";
export { folderFor, INBOX_FOLDER, PEOPLE_FOLDER } from "./files/places.ts";
export { createReadTool, type ReadToolOptions } from "./files/read.ts";
export { detectEncoding, type TextEncoding } from "./files/text.ts";
export { comparedBeside } from "./files/text-work.ts";
export { createWriteTool, type WriteToolOptions } from "./files/write.ts";
export { type FromToolOptions, fromTool, isTool } from "./from-tool.ts";
export { type ConfigChange, createGatewayTool, type GatewayToolOptions } from "./gateway.ts";
export { createImageTool, type ImageToolOptions, type PictureQuestion } from "./image.ts";
export type { InForce } from "./in-force.ts";
export { type AgentFiles, openAgentFiles } from "./labels/agent-files.ts";
export { type FileLabels, openFileLabels } from "./labels/file-labels.ts";
export {
  type Author,
  createMemoryLabelStore,
  type FileLabel,
  type LabelStore,
  type OpenCommand,
} from "./labels/label.ts";
export { createTrust, type Trust, type Trusted } from "./labels/trust.ts";
export type { AgentMemory, MemoryAnswer } from "./memory.ts";
export {
  createMessageTool,
  type MessageActionName,
  type MessageContext,
  type MessageToolOptions,
} from "./message.ts";
export type { KeyValues } from "./persistence/key-values.ts";
export { createLabelStore } from "./persistence/labels.ts";
export {
  createSessionTaint,
  type SessionData,
  type SessionTaint,
  type TaintedSession,
  taintIn,
} from "./persistence/session-taint.ts";
export { createStandingRules, type StandingRules } from "./persistence/standing-rules.ts";
export { taintSource } from "./persistence/taint-source.ts";
export { type AskMode, allowsTool, decide, type ToolPolicy, type ToolRule } from "./policy.ts";
export { type Questions, questionText } from "./questions.ts";
export { createRunState, type RunState, weakerRole } from "./run-state.ts";
export {
  createToolRunner,
  type DirectCallOptions,
  type ForRunOptions,
  type RunTools,
  type ToolRunner,
  type ToolRunnerOptions,
} from "./runner.ts";
export { describeSandbox, type SandboxReport } from "./sandbox/report.ts";
export { commandEnvironment, type StartSandboxOptions, startSandbox } from "./sandbox/start.ts";
export type * from "./sandbox/types.ts";
export { createSearch, type Search } from "./search/search.ts";
export { isOtherSession, type SessionsCall, type SessionsRequest } from "./sessions.ts";
export { readRule, type StandingRule } from "./shell/standing-rules.ts";
export {
  checkToolNames,
  matchesAny,
  TOOL_GROUPS,
  TOOL_PROFILES,
  type UnknownToolName,
} from "./tool-names.ts";
export type {
  HookedCall,
  HookVerdict,
  LookFor,
  MayAttach,
  MoreTools,
  ToolboxOptions,
  ToolRun,
} from "./toolbox/options.ts";
export type { CommandCallOptions, HeardMessage, ToolboxRun } from "./toolbox/run.ts";
export { createToolbox, type Toolbox } from "./toolbox/toolbox.ts";
export type * from "./types.ts";
export {
  type AskUserRequest,
  type AskUserToolOptions,
  createAskUserTool,
} from "./user-questions/ask-user.ts";
export {
  formatUserQuestion,
  formatUserQuestionOutcome,
  getAnswerChoices,
  mayAnswer,
  type UserQuestion,
  type UserQuestionOutcome,
} from "./user-questions/user-question.ts";
export {
  type AnswerResult,
  createUserQuestions,
  type NewUserQuestion,
  type UserAnswer,
  type UserQuestions,
  type UserQuestionsOptions,
} from "./user-questions/user-questions.ts";
export { codeBlock, visibleLine, visibleText } from "./visible.ts";
export { isPublicAddress } from "./web/address.ts";
export { FetchError, type FetchErrorCode } from "./web/errors.ts";
export {
  createGuardedFetch,
  type FetchCallOptions,
  type FetchedResource,
  type GuardedFetch,
  type GuardedFetchOptions,
} from "./web/guarded-fetch.ts";
export { type LinkedPage, type LinkedPagesOptions, readLinkedPages } from "./web/linked-pages.ts";
export { linksIn, samePage } from "./web/links.ts";
export { type PageText, type PageTextOptions, pageText } from "./web/page.ts";
export type { WebSearchSettings } from "./web/search-engines.ts";
export { createWebSearchTool, type WebSearchToolOptions } from "./web/search-tool.ts";
export { createSeenLinks, type SeenLinks } from "./web/seen-links.ts";
export { createWebFetchTool, type WebFetchToolOptions } from "./web/tool.ts";
export { type AgentWorkspaces, createAgentWorkspaces } from "./workspace/agent-workspaces.ts";
export { WorkspaceError, type WorkspaceErrorCode } from "./workspace/errors.ts";
export type { OpenFile } from "./workspace/open-file.ts";
export {
  type Folder,
  type FolderEntry,
  openWorkspace,
  type Workspace,
  type WorkspaceOptions,
  type WriteOptions,
} from "./workspace/workspace.ts";
