export { pricesFor } from "@signalbox/llm-providers";
export { type AccountCommandsPorts, accountCommands } from "./account-commands.ts";
export { accountLogger } from "./account-logger.ts";
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
export { createDecide, type Decide, type Decided, type DecidePorts, type Place } from "./decide.ts";
export { type HostPackages, installCommand } from "./host-packages.ts";
export { type Applied, createLiveSetup, type LiveSetup } from "./live-setup.ts";
export { type AgentModel, type Models, providerEntry, resolveModels } from "./models.ts";
export {
  type ChangedAccounts,
  changedAccounts,
  changedSections,
  keysForStart,
  type NextSetup,
  nextSetup,
} from "./next-setup.ts";
export { createPhrasesOf, type PhrasesOf, type Written } from "./phrases-of.ts";
export { type PluginTools, type PluginToolsOptions, resolvePluginTools } from "./plugin-tools.ts";
export { withoutSecrets } from "./redacted-answers.ts";
export { explainRoute, routeInput, routingConfig } from "./routing.ts";
export { type Asking, type AskingPorts, type AskingRun, createAsking } from "./running/asking.ts";
export { type BringUp, type BringUpOptions, createBringUp } from "./running/bring-up.ts";
export { createExecSandbox, execSandbox, type StartExecSandbox } from "./running/exec-sandbox.ts";
export { createGatewayDesk, type GatewayDeskPorts } from "./running/gateway-desk.ts";
export { createReadLinks, type ReadLinks, type ReadLinksPorts } from "./running/links.ts";
export { createLiveRouter } from "./running/live-router.ts";
export { type LoadAheadPorts, loadAhead } from "./running/load-ahead.ts";
export { createLook, type LookPorts } from "./running/look.ts";
export { type McpHost, mcpSettings, openMcpServers } from "./running/mcp-servers.ts";
export { createMoreTools, type MoreToolsOf, namesServer } from "./running/more-tools.ts";
export { createPictureFitter, PICTURES_AS_THEY_ARE } from "./running/pictures.ts";
export {
  type ReadConfiguration,
  type Reloaded,
  Reloading,
  type ReloadingPorts,
} from "./running/reload.ts";
export { samplingOf } from "./running/sampling.ts";
export {
  createSpenders,
  createSpending,
  type Spending,
  type SpendingPorts,
} from "./running/spending.ts";
export type { SpendingReports } from "./running/spending-reports.ts";
export { createTimeZones } from "./running/time-zones.ts";
export { createTranscriptionCosts, type PayForTranscription } from "./running/transcription-costs.ts";
export { createVectorCosts } from "./running/vector-costs.ts";
export { createWebFetch, type WebFetch } from "./running/web-fetch.ts";
export { prepareWorkspaces, type WorkspacesOptions } from "./running/workspaces.ts";
export { type AgentsSkills, resolveSkills } from "./skills.ts";
export { namesFor, toolsOf } from "./tool-names.ts";
