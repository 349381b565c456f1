export { pricesFor } from "@signalbox/llm-providers";
export {
  type Account,
  type Accounts,
  type AccountsOptions,
  OWN_ACCOUNT,
  resolveAccounts,
} from "./accounts.ts";
export {
  type ActiveHours,
  type Agent,
  type Agents,
  type Heartbeat,
  resolveAgents,
  workspacesOf,
} from "./agents.ts";
export { budgetsOf } from "./budgets.ts";
export { createSetup, type Setup, type SetupOptions } from "./create-setup.ts";
export { createExecSandbox, execSandbox, type StartExecSandbox } from "./exec-sandbox.ts";
export { type HostPackages, installCommand } from "./host-packages.ts";
export { type Applied, createLiveSetup, type LiveSetup } from "./live-setup.ts";
export { type McpHost, mcpSettings, openMcpServers } from "./mcp-servers.ts";
export { type AgentModel, type Models, resolveModels } from "./models.ts";
export { createMoreTools, type MoreToolsOf } from "./more-tools.ts";
export {
  type ChangedAccounts,
  changedAccounts,
  changedSections,
  keysForStart,
  type NextSetup,
  nextSetup,
} from "./next-setup.ts";
export { type PluginTools, type PluginToolsOptions, resolvePluginTools } from "./plugin-tools.ts";
export { routingConfig } from "./routing.ts";
export { samplingOf } from "./sampling.ts";
export { type AgentsSkills, resolveSkills } from "./skills.ts";
export { createSpending, type Spending, type SpendingPorts } from "./spending.ts";
export { namesFor, toolsOf } from "./tool-names.ts";
export { createWebFetch, type WebFetch } from "./web-fetch.ts";
