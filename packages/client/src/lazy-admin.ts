import type { AdminApi } from "./admin.ts";
import type { Requests } from "./requests.ts";

/** Creates the administration, whose code is loaded with the first call, because most clients only chat. */
export function createLazyAdminApi(requests: Requests): AdminApi {
  let loading: Promise<AdminApi> | undefined;
  const load = (): Promise<AdminApi> => {
    loading ??= import("./admin.ts").then(({ createAdminApi }) => createAdminApi(requests));
    return loading;
  };
  const lazy = <Name extends keyof AdminApi>(name: Name): AdminApi[Name] => {
    const call = async (...args: readonly never[]): Promise<never> => {
      const method: (...given: readonly never[]) => Promise<unknown> = (await load())[name];
      return (await method(...args)) as never;
    };
    return call as AdminApi[Name];
  };
  return {
    configuration: lazy("configuration"),
    configurationSchema: lazy("configurationSchema"),
    checkConfiguration: lazy("checkConfiguration"),
    writeConfiguration: lazy("writeConfiguration"),
    configurationHistory: lazy("configurationHistory"),
    configurationVersion: lazy("configurationVersion"),
    rollbackConfiguration: lazy("rollbackConfiguration"),
    setup: lazy("setup"),
    tryProvider: lazy("tryProvider"),
    setUpModel: lazy("setUpModel"),
    setUpAccount: lazy("setUpAccount"),
    agent: lazy("agent"),
    agentPrompt: lazy("agentPrompt"),
    agentFiles: lazy("agentFiles"),
    agentFile: lazy("agentFile"),
    writeAgentFile: lazy("writeAgentFile"),
    models: lazy("models"),
    tryModel: lazy("tryModel"),
    pauseSchedule: lazy("pauseSchedule"),
    searchMemory: lazy("searchMemory"),
    addMemory: lazy("addMemory"),
    editMemory: lazy("editMemory"),
    forgetMemory: lazy("forgetMemory"),
    skills: lazy("skills"),
    addSkill: lazy("addSkill"),
    approveSkill: lazy("approveSkill"),
    mcpTools: lazy("mcpTools"),
    acceptMcpTools: lazy("acceptMcpTools"),
    outbox: lazy("outbox"),
    retryReply: lazy("retryReply"),
    dropReply: lazy("dropReply"),
    approvalHistory: lazy("approvalHistory"),
    audit: lazy("audit"),
    verifyAudit: lazy("verifyAudit"),
    tokens: lazy("tokens"),
    addToken: lazy("addToken"),
    revokeToken: lazy("revokeToken"),
    signIns: lazy("signIns"),
    endSignIn: lazy("endSignIn"),
    logs: lazy("logs"),
    health: lazy("health"),
  };
}
