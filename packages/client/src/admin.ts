import {
  type AccountSetup,
  AccountSetupResult,
  AddedSkill,
  AgentDetails,
  AgentPrompt,
  ApprovalHistory,
  AuditList,
  type AuditQuery,
  AuditVerdict,
  Configuration,
  type ConfigurationChange,
  ConfigurationCheck,
  ConfigurationHistory,
  type ConfigurationRollback,
  ConfigurationSchema,
  ConfigurationVersion,
  ConfigurationWrite,
  CreatedToken,
  type DecidedApproval,
  Health,
  type HealthFinding,
  type Language,
  type LogEntry,
  LogLines,
  type LogQuery,
  McpToolList,
  MemoryAdded,
  type MemoryAddition,
  type MemoryEdit,
  type MemoryQuery,
  MemoryRemoved,
  MemoryResult,
  ModelList,
  type ModelSetup,
  ModelTrialResult,
  type NewToken,
  OutboxList,
  type OutboxReply,
  OutboxResult,
  type ProviderTrial,
  ProviderTrialResult,
  Setup,
  type SignInInfo,
  SignInList,
  type SkillApproval,
  SkillList,
  type SkillUpload,
  type TokenInfo,
  TokenList,
  WorkspaceFile,
  type WorkspaceFileChange,
  WorkspaceFolder,
} from "@signalbox/protocol";
import type { Requests } from "./requests.ts";

/**
 * Administration of a gateway. Reading requires the scope `read`, and changes the scope that the API's reference names.
 * A change that a browser session may not make without a recent sign-in rejects with the code `sign_in_again`.
 */
export interface AdminApi {
  /** Returns the configuration file without its secrets. */
  configuration(): Promise<Configuration>;
  configurationSchema(): Promise<ConfigurationSchema>;
  /** Checks a change without applying it. Code `conflict` if the file has changed since `revision`. */
  checkConfiguration(change: ConfigurationChange): Promise<ConfigurationCheck>;
  /** Codes `conflict`, and `invalid` with `details` if the change has errors. Nothing is changed then. */
  writeConfiguration(change: ConfigurationChange): Promise<ConfigurationWrite>;
  /** Lists earlier versions, latest first. */
  configurationHistory(): Promise<ConfigurationHistory["versions"]>;
  configurationVersion(id: string): Promise<ConfigurationVersion>;
  /** Restores an earlier version. Codes as for {@link writeConfiguration}. */
  rollbackConfiguration(version: ConfigurationRollback): Promise<ConfigurationWrite>;
  /** Lists the providers and channels that can be set up. */
  setup(): Promise<Setup>;
  /** Calls a model of a provider once, and lists its models. Stores nothing. */
  tryProvider(trial: ProviderTrial): Promise<ProviderTrialResult>;
  /** Stores a provider and the default model. Codes as for {@link writeConfiguration}. */
  setUpModel(setup: ModelSetup): Promise<ConfigurationWrite>;
  /** Checks an account with its platform, and stores it if the platform accepts it. */
  setUpAccount(
    setup: Partial<AccountSetup> & Pick<AccountSetup, "channel" | "settings">,
  ): Promise<AccountSetupResult>;
  /** Returns an agent with its tools and skills. */
  /** @param language language of the reasons. Default: English. */
  agent(id: string, language?: Language): Promise<AgentDetails>;
  /** Returns the sections of the latest system prompt. Code `not_found` if the agent has not answered recently. */
  agentPrompt(id: string): Promise<AgentPrompt>;
  /** Lists a folder in an agent's workspace. Default: the workspace itself. */
  agentFiles(id: string, path?: string): Promise<WorkspaceFolder>;
  agentFile(id: string, path: string): Promise<WorkspaceFile>;
  /** Creates or replaces a file. Code `conflict` if it has changed since `revision`. */
  writeAgentFile(id: string, change: WorkspaceFileChange): Promise<WorkspaceFile>;
  models(): Promise<ModelList>;
  /** Calls a model once. Code `not_found` if it cannot be chosen. */
  tryModel(model: string): Promise<ModelTrialResult>;
  /** Pauses or continues a schedule. */
  pauseSchedule(id: string, paused: boolean): Promise<void>;
  /** Searches a memory. Without words, lists its notes, newest first. */
  searchMemory(agent: string, query?: Partial<MemoryQuery>): Promise<MemoryResult>;
  /** Adds a note that the agent reads in private chats with owners. */
  addMemory(agent: string, note: Partial<MemoryAddition> & { readonly text: string }): Promise<MemoryAdded>;
  /** Changes the text of a note. Code `conflict` if it has changed since `before`, or if it is a message. */
  editMemory(agent: string, edit: MemoryEdit): Promise<void>;
  /** Returns the ids of the removed entries. */
  forgetMemory(agent: string, ids: readonly string[]): Promise<string[]>;
  skills(): Promise<SkillList>;
  /**
   * Adds a skill to an agent's workspace, where it waits for an approval. Codes `bad_request` for a name or file that
   * is not permitted, and `conflict` if the agent has a folder with this name.
   */
  addSkill(skill: SkillUpload): Promise<AddedSkill>;
  /** Code `not_found` if the skill has changed since it was shown. */
  approveSkill(skill: SkillApproval): Promise<void>;
  /** Lists the tools of an MCP server. With `start`, starts the server if it is not running. */
  mcpTools(server: string, options?: { readonly start?: boolean }): Promise<McpToolList>;
  /** Accepts the changed tools of a server, with the digest from {@link mcpTools}. */
  acceptMcpTools(server: string, changes: string): Promise<void>;
  /** Lists replies that failed. With `all`, also those that wait or are being sent. */
  outbox(options?: { readonly all?: boolean }): Promise<OutboxReply[]>;
  /** Sends a reply again. Returns its earlier state. Code `conflict` if that is not possible. */
  retryReply(id: string): Promise<OutboxResult["was"]>;
  dropReply(id: string): Promise<OutboxResult["was"]>;
  /** Lists requests for approval with their outcomes, newest first. */
  approvalHistory(limit?: number): Promise<DecidedApproval[]>;
  /** Lists the audit log, newest first. */
  audit(query?: Partial<AuditQuery>): Promise<AuditList>;
  verifyAudit(): Promise<AuditVerdict>;
  tokens(): Promise<TokenInfo[]>;
  /** Creates a token, whose secret is returned only once. Code `conflict` if the name is taken. */
  addToken(token: NewToken): Promise<CreatedToken>;
  revokeToken(name: string): Promise<void>;
  /** Lists the browsers that are signed in, the latest use first. */
  signIns(): Promise<SignInInfo[]>;
  /** Signs a browser out. Code `not_found` if the session does not exist. */
  endSignIn(id: string): Promise<void>;
  /** Returns the latest lines of the log, oldest first. */
  logs(query?: Partial<LogQuery>): Promise<LogEntry[]>;
  /**
   * Checks the machine, the configuration, the accounts and the stored data.
   *
   * @param language language of the results. Default: English.
   */
  health(language?: Language): Promise<HealthFinding[]>;
}

export function createAdminApi({ get, post, postVoid }: Requests): AdminApi {
  return {
    ...createConfigurationApi({ get, post }),
    ...createSetupApi({ get, post }),
    ...createAgentApi({ get, post, postVoid }),
    ...createRecordApi({ get, post, postVoid }),
    searchMemory: (agent, query = {}) => get(withQuery(`/api/memory/${segment(agent)}`, query), MemoryResult),
    addMemory: (agent, note) => post(`/api/memory/${segment(agent)}/add`, note, MemoryAdded),
    editMemory: (agent, edit) => postVoid(`/api/memory/${segment(agent)}/edit`, edit),
    forgetMemory: async (agent, ids) =>
      (await post(`/api/memory/${segment(agent)}/forget`, { ids }, MemoryRemoved)).ids,
    skills: () => get("/api/skills", SkillList),
    addSkill: (skill) => post("/api/skills", skill, AddedSkill),
    approveSkill: (skill) => postVoid("/api/skills/approve", skill),
    mcpTools: (server, { start = false } = {}) =>
      get(withQuery(`/api/mcp/${segment(server)}/tools`, start ? { start: "1" } : {}), McpToolList),
    acceptMcpTools: (server, changes) => postVoid(`/api/mcp/${segment(server)}/accept`, { changes }),
  };
}

type ConfigurationMethods =
  | "configuration"
  | "configurationSchema"
  | "checkConfiguration"
  | "writeConfiguration"
  | "configurationHistory"
  | "configurationVersion"
  | "rollbackConfiguration";

function createConfigurationApi({
  get,
  post,
}: Pick<Requests, "get" | "post">): Pick<AdminApi, ConfigurationMethods> {
  const path = "/api/configuration";
  return {
    configuration: () => get(path, Configuration),
    configurationSchema: () => get(`${path}/schema`, ConfigurationSchema),
    checkConfiguration: (change) => post(`${path}/check`, change, ConfigurationCheck),
    writeConfiguration: (change) => post(path, change, ConfigurationWrite),
    configurationHistory: async () => (await get(`${path}/history`, ConfigurationHistory)).versions,
    configurationVersion: (id) => get(`${path}/history/${segment(id)}`, ConfigurationVersion),
    rollbackConfiguration: (version) => post(`${path}/rollback`, version, ConfigurationWrite),
  };
}

function createSetupApi({
  get,
  post,
}: Pick<Requests, "get" | "post">): Pick<AdminApi, "setup" | "tryProvider" | "setUpModel" | "setUpAccount"> {
  return {
    setup: () => get("/api/setup", Setup),
    tryProvider: (trial) => post("/api/setup/provider", trial, ProviderTrialResult),
    setUpModel: (setup) => post("/api/setup/model", setup, ConfigurationWrite),
    setUpAccount: (setup) => post("/api/setup/account", setup, AccountSetupResult),
  };
}

type AgentMethods =
  | "agent"
  | "agentPrompt"
  | "agentFiles"
  | "agentFile"
  | "writeAgentFile"
  | "models"
  | "tryModel"
  | "pauseSchedule";

function createAgentApi({
  get,
  post,
  postVoid,
}: Pick<Requests, "get" | "post" | "postVoid">): Pick<AdminApi, AgentMethods> {
  const getPath = (id: string): string => `/api/agents/${segment(id)}`;
  return {
    agent: (id, language) =>
      get(withQuery(getPath(id), language === undefined ? {} : { language }), AgentDetails),
    agentPrompt: (id) => get(`${getPath(id)}/prompt`, AgentPrompt),
    agentFiles: (id, path = "") => get(withQuery(`${getPath(id)}/files`, { path }), WorkspaceFolder),
    agentFile: (id, path) => get(withQuery(`${getPath(id)}/file`, { path }), WorkspaceFile),
    writeAgentFile: (id, change) => post(`${getPath(id)}/file`, change, WorkspaceFile),
    models: () => get("/api/models", ModelList),
    tryModel: (model) => post("/api/models/try", { model }, ModelTrialResult),
    pauseSchedule: (id, paused) => postVoid(`/api/schedules/${segment(id)}/pause`, { paused }),
  };
}

type RecordMethods =
  | "outbox"
  | "retryReply"
  | "dropReply"
  | "approvalHistory"
  | "audit"
  | "verifyAudit"
  | "tokens"
  | "addToken"
  | "revokeToken"
  | "signIns"
  | "endSignIn"
  | "logs"
  | "health";

function createRecordApi({
  get,
  post,
  postVoid,
}: Pick<Requests, "get" | "post" | "postVoid">): Pick<AdminApi, RecordMethods> {
  return {
    outbox: async ({ all = false } = {}) =>
      (await get(withQuery("/api/outbox", all ? { all: "1" } : {}), OutboxList)).replies,
    retryReply: async (id) => (await post(`/api/outbox/${segment(id)}/retry`, {}, OutboxResult)).was,
    dropReply: async (id) => (await post(`/api/outbox/${segment(id)}/drop`, {}, OutboxResult)).was,
    approvalHistory: async (limit) =>
      (await get(withQuery("/api/approvals/history", { limit }), ApprovalHistory)).approvals,
    audit: (query = {}) => get(withQuery("/api/audit", query), AuditList),
    verifyAudit: () => get("/api/audit/verify", AuditVerdict),
    tokens: async () => (await get("/api/tokens", TokenList)).tokens,
    addToken: (token) => post("/api/tokens", token, CreatedToken),
    revokeToken: (name) => postVoid(`/api/tokens/${segment(name)}/revoke`, {}),
    signIns: async () => (await get("/api/sign-ins", SignInList)).signIns,
    endSignIn: (id) => postVoid(`/api/sign-ins/${segment(id)}/end`, {}),
    logs: async (query = {}) => (await get(withQuery("/api/logs", query), LogLines)).lines,
    health: async (language) =>
      (await get(withQuery("/api/health", language === undefined ? {} : { language }), Health)).findings,
  };
}

function segment(text: string): string {
  return encodeURIComponent(text);
}

/** Appends the parameters that are set. */
function withQuery(path: string, parameters: Readonly<Record<string, string | number | undefined>>): string {
  const set = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return set.length === 0 ? path : `${path}?${new URLSearchParams(set)}`;
}
