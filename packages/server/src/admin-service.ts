import type {
  AccountSetup,
  AccountSetupResult,
  AddedSkill,
  AgentDetails,
  AgentPrompt,
  ApprovalHistory,
  AuditList,
  AuditQuery,
  AuditVerdict,
  Configuration,
  ConfigurationChange,
  ConfigurationCheck,
  ConfigurationHistory,
  ConfigurationRollback,
  ConfigurationSchema,
  ConfigurationVersion,
  ConfigurationWrite,
  CreatedToken,
  Health,
  Language,
  LogLines,
  LogQuery,
  McpToolList,
  MemoryAdded,
  MemoryAddition,
  MemoryEdit,
  MemoryQuery,
  MemoryRemoved,
  MemoryResult,
  ModelList,
  ModelSetup,
  ModelTrialResult,
  NewToken,
  OutboxList,
  OutboxResult,
  ProviderTrial,
  ProviderTrialResult,
  Setup,
  SkillApproval,
  SkillList,
  SkillUpload,
  TokenList,
  WorkspaceFile,
  WorkspaceFileChange,
  WorkspaceFolder,
} from "@signalbox/protocol";

/**
 * Administration of the gateway. Methods reject with an `ApiError` for requests that cannot be fulfilled. `actor` is
 * the person or token that makes a change. It is recorded in the audit log.
 */
export interface AdminService {
  /** Returns the configuration file without its secrets. */
  configuration(): Promise<Configuration>;
  configurationSchema(): Promise<ConfigurationSchema>;
  checkConfiguration(change: ConfigurationChange): Promise<ConfigurationCheck>;
  /** Writes and applies a change, unless it has new errors or the file has changed. */
  writeConfiguration(change: ConfigurationChange, actor: string): Promise<ConfigurationWrite>;
  configurationHistory(): Promise<ConfigurationHistory>;
  configurationVersion(id: string): Promise<ConfigurationVersion>;
  rollbackConfiguration(rollback: ConfigurationRollback, actor: string): Promise<ConfigurationWrite>;
  setup(): Promise<Setup>;
  /** Calls a model of a provider once. Stores nothing. */
  tryProvider(trial: ProviderTrial, actor: string): Promise<ProviderTrialResult>;
  setUpModel(setup: ModelSetup, actor: string): Promise<ConfigurationWrite>;
  /** Stores the account unless its settings are invalid or the platform refuses it. */
  setUpAccount(setup: AccountSetup, actor: string): Promise<AccountSetupResult>;
  /** @param language language of the reasons */
  agent(id: string, language: Language): Promise<AgentDetails>;
  /** @param withText includes the text of the sections, if it is known */
  agentPrompt(id: string, withText: boolean): Promise<AgentPrompt>;
  agentFiles(id: string, path: string): Promise<WorkspaceFolder>;
  agentFile(id: string, path: string): Promise<WorkspaceFile>;
  writeAgentFile(id: string, change: WorkspaceFileChange, actor: string): Promise<WorkspaceFile>;
  models(): Promise<ModelList>;
  tryModel(model: string, actor: string): Promise<ModelTrialResult>;
  pauseSchedule(id: string, isPaused: boolean, actor: string): Promise<void>;
  searchMemory(agent: string, query: MemoryQuery): Promise<MemoryResult>;
  /** Changes the text of a note, unless it has changed since it was read. */
  addMemory(agent: string, note: MemoryAddition, actor: string): Promise<MemoryAdded>;
  editMemory(agent: string, edit: MemoryEdit, actor: string): Promise<void>;
  forgetMemory(agent: string, ids: readonly string[], actor: string): Promise<MemoryRemoved>;
  skills(): Promise<SkillList>;
  /** Writes the files of a skill. No agent can use it before `approveSkill`. */
  addSkill(skill: SkillUpload, actor: string): Promise<AddedSkill>;
  approveSkill(skill: SkillApproval, actor: string): Promise<void>;
  /** @param isStarting starts the server if it is not running */
  mcpTools(server: string, isStarting: boolean): Promise<McpToolList>;
  acceptMcpTools(server: string, changes: string, actor: string): Promise<void>;
  /** @param isComplete includes replies that wait or are being sent */
  outbox(isComplete: boolean): Promise<OutboxList>;
  retryReply(id: string, actor: string): Promise<OutboxResult>;
  dropReply(id: string, actor: string): Promise<OutboxResult>;
  approvalHistory(limit: number): Promise<ApprovalHistory>;
  audit(query: AuditQuery): Promise<AuditList>;
  verifyAudit(): Promise<AuditVerdict>;
  tokens(): Promise<TokenList>;
  addToken(token: NewToken, actor: string): Promise<CreatedToken>;
  revokeToken(name: string, actor: string): Promise<void>;
  logs(query: LogQuery): Promise<LogLines>;
  health(language: Language): Promise<Health>;
  /** Records a change that another part of the service has made. */
  recordOperation(action: string, subject: string, actor: string): void;
}
