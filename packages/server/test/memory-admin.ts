import { type AdminService, ApiError } from "../src/index.ts";

/** An administration without a gateway. Each change is refused as `not_found`, or returns an empty result. */
export function createMemoryAdmin(): AdminService {
  const missing = async (): Promise<never> => {
    throw new ApiError("not_found", "There is nothing.");
  };
  return {
    configuration: missing,
    configurationSchema: async () => ({ type: "object" }),
    checkConfiguration: missing,
    writeConfiguration: missing,
    configurationHistory: async () => ({ versions: [] }),
    configurationVersion: missing,
    rollbackConfiguration: missing,
    setup: async () => ({ editable: true, providers: [], channels: [] }),
    tryProvider: missing,
    setUpModel: missing,
    setUpAccount: missing,
    agent: missing,
    agentPrompt: missing,
    agentFiles: async (_id, path) => ({ path, entries: [], truncated: false }),
    agentFile: missing,
    writeAgentFile: missing,
    models: async () => ({ providers: [], models: [] }),
    tryModel: missing,
    pauseSchedule: missing,
    searchMemory: async () => ({ summary: "", entries: [], notes: 0, turns: 0 }),
    addMemory: missing,
    editMemory: missing,
    forgetMemory: async () => ({ ids: [] }),
    skills: async () => ({ agents: [], pending: [], problems: [] }),
    addSkill: missing,
    approveSkill: missing,
    mcpTools: missing,
    acceptMcpTools: missing,
    outbox: async () => ({ replies: [] }),
    retryReply: missing,
    dropReply: missing,
    approvalHistory: async () => ({ approvals: [] }),
    audit: async () => ({ entries: [] }),
    verifyAudit: async () => ({ intact: true, count: 0 }),
    tokens: async () => ({ tokens: [] }),
    addToken: missing,
    revokeToken: missing,
    logs: async () => ({ lines: [] }),
    health: async () => ({ findings: [] }),
    recordOperation: () => {},
  };
}
