export { createAgentToolbox } from "./agent-toolbox/agent-toolbox.ts";
export type {
  AgentToolboxOptions,
  DescribeImage,
  MayAttach,
  MoreTools,
} from "./agent-toolbox/agent-toolbox-options.ts";
export type { AgentToolboxRun } from "./agent-toolbox/agent-toolbox-run.ts";
export type { Approval, ApprovalStore, Requester } from "./approval-store.ts";
export {
  formatApproval,
  formatShortApproval,
} from "./approval-text.ts";
export { type Approvals, createApprovals, expireApprovals } from "./approvals.ts";
export type { BackgroundProcess } from "./background/processes.ts";
export { createBrowserTools } from "./browser/browser-tools.ts";
export { type AgentBrowser, type Download, MAX_DOWNLOAD_BYTES } from "./browser/types.ts";
export { BUILT_IN_TOOLS } from "./built-in.ts";
export type { CronRequest } from "./cron.ts";
export { defineTool, type ToolDefinition } from "./define.ts";
export { extractDocumentText, isDocumentType } from "./documents/extract-document.ts";
export { escapeInvisible, escapeLine, formatCodeBlock } from "./escape.ts";
export { createExecTool } from "./exec.ts";
export { checkPolicy, explainUse } from "./explain.ts";
export { createApplyPatchTool } from "./files/apply-patch.ts";
export { createEditTool } from "./files/edit.ts";
export { createFindTool } from "./files/find.ts";
export { createGrepTool } from "./files/grep.ts";
export { createLsTool } from "./files/ls.ts";
export { toFolderName } from "./files/places.ts";
export { createReadTool } from "./files/read.ts";
export { detectEncoding } from "./files/text.ts";
export { compareTexts } from "./files/text-work.ts";
export { createWriteTool } from "./files/write.ts";
export { fromTool, isTool } from "./from-tool.ts";
export type { ConfigChange, GatewayToolOptions } from "./gateway.ts";
export type { ImageRequest } from "./generate-image.ts";
export { type AgentFiles, openAgentFiles } from "./labels/agent-files.ts";
export { type FileLabels, openFileLabels } from "./labels/file-labels.ts";
export { createMemoryLabelStore, type LabelStore } from "./labels/label.ts";
export { createAllowRules } from "./persistence/allow-rules.ts";
export { createLabelStore } from "./persistence/labels.ts";
export {
  createSessionTaint,
  readSessionTaint,
  type SessionTaint,
  type TaintedSession,
} from "./persistence/session-taint.ts";
export { type AskMode, allowsTool, type CurrentRights, type ToolPolicy } from "./policy.ts";
export { cleanRequester } from "./requester.ts";
export { createRunState, getWeakerRole } from "./run-state.ts";
export { createToolRunner } from "./runner.ts";
export type { EgressProxy } from "./sandbox/network/proxy.ts";
export { PROXY_PORT } from "./sandbox/network/variables.ts";
export { openWebProxy, type WebProxyOptions } from "./sandbox/network/web-proxy.ts";
export { describeSandbox } from "./sandbox/report.ts";
export { getCommandEnvironment, startSandbox } from "./sandbox/start.ts";
export type { Sandbox, SandboxedProgram, SandboxSetting } from "./sandbox/types.ts";
export { createSearch } from "./search/search.ts";
export { isOtherSession, type SessionsCall, type SessionsRequest } from "./sessions.ts";
export { findUnknownToolNames, listToolNames, matchesAny, TOOL_GROUPS } from "./tool-names.ts";
export {
  type DecisionRecord,
  type Role,
  type RunFacts,
  type TaintSource,
  taintSourceSchema,
} from "./types.ts";
export type { AskUserRequest } from "./user-questions/ask-user.ts";
export {
  formatUserQuestion,
  formatUserQuestionOutcome,
  getAnswerChoices,
  mayAnswer,
  type UserQuestionOutcome,
} from "./user-questions/user-question.ts";
export { createUserQuestions, type UserQuestions } from "./user-questions/user-questions.ts";
export { createWebFetchTool } from "./web/fetch-tool.ts";
export { createGuardedFetch, type GuardedFetch } from "./web/guarded-fetch.ts";
export { createGuardedRequest } from "./web/guarded-request.ts";
export { readLinkedPages } from "./web/linked-pages.ts";
export { extractPageText } from "./web/page.ts";
export { type AgentWorkspaces, createAgentWorkspaces } from "./workspace/agent-workspaces.ts";
export { WorkspaceError } from "./workspace/errors.ts";
export { openWorkspace, type Workspace } from "./workspace/workspace.ts";
