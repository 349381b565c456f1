import type { McpServers } from "@signalbox/mcp";
import type { Memories, SessionAccess } from "@signalbox/memory/agents";
import type { FileLabels, UserQuestions } from "@signalbox/tools";
import { createGatewayDesk } from "../agent/gateway-tool.ts";
import { createLook } from "../agent/look.ts";
import { createMoreTools } from "../agent/more-tools.ts";
import { createSpending, type Spending } from "../agent/spending.ts";
import { createPhrasesOf } from "../configure/phrases-of.ts";
import { withoutSecrets } from "../configure/redacted-answers.ts";
import type { SpeakingOptions } from "../tools/speaking.ts";
import { createToolbox, type Toolbox, type ToolboxOptions } from "../tools/toolbox.ts";
import { createCronHandler } from "../triggers/cron-handler.ts";
import type { Delegation } from "../triggers/delegation.ts";
import type { OtherSessions } from "../triggers/other-sessions.ts";
import type { ScheduledWakes } from "../triggers/scheduled-wakes.ts";
import { createSessionsHandler } from "../triggers/sessions-handler.ts";
import { VERSION } from "../version.ts";
import type { Base } from "./base.ts";
import { DOCUMENTS } from "./documents.ts";
import type { Observers } from "./observers.ts";
import type { Outward } from "./outward.ts";

/** What the tools of agents work with. */
export interface AroundTools extends Observers, Outward {
  readonly labels: FileLabels;
  /** What agents have asked people. */
  readonly userQuestions: UserQuestions;
  /** What agents remember beyond a conversation; not asked where that is turned off. */
  readonly memories: Memories;
  /** Who hears of it where. */
  readonly memoryAccess: SessionAccess;
  readonly mcp: McpServers;
  /** What agents are to do later, by themselves. */
  readonly scheduledWakes: ScheduledWakes;
  /** Work that agents give to sub-agents. */
  readonly subAgents: Delegation;
  /** What agents say to each other from conversation to conversation. */
  readonly otherSessions: OtherSessions;
}

/** What agents can do, and what pays for it: which asks people by the toolbox, and is asked by its tools. */
export function createTools(
  base: Base,
  around: AroundTools,
): { readonly toolbox: Toolbox; readonly spending: Spending } {
  const { instrument } = base.options;
  const made = createToolbox(toolboxOptions(base, around, () => spending));
  const toolbox = instrument?.toolbox(made) ?? made;
  const { approvals } = toolbox;
  const spending = createSpending(base.configuration, { ...around.spendingReports, approvals });
  return { toolbox, spending };
}

/** @param spending there before any tool is called */
function toolboxOptions(base: Base, around: AroundTools, spending: () => Spending): ToolboxOptions {
  const { options, opened, configuration, now } = base;
  const { config, resolved } = configuration;
  const { agents, models, skills, plugins, web } = resolved;
  const { memories, mcp, scheduledWakes, subAgents, otherSessions } = around;
  return {
    config,
    home: options.home,
    labels: around.labels,
    agents,
    skills,
    withoutSecrets: withoutSecrets(options.vault),
    readOnlyDirs: () => [...skills.dirs, DOCUMENTS.dir],
    fetch: web.fetch,
    fitPicture: around.media.fitPicture,
    tracer: around.tracer,
    hooks: around.hooks,
    audit: opened.audit,
    memories: () => (config().memory.enabled ? memories : undefined),
    memoryAccess: around.memoryAccess,
    userQuestions: around.userQuestions,
    execSandbox: options.execSandbox,
    now,
    more: createMoreTools(plugins, mcp),
    cron: createCronHandler(scheduledWakes, now),
    sessions: createSessionsHandler(subAgents, otherSessions, opened.store),
    gateway: gatewayDesk(base),
    look: createLook({ config, models, spending, now }),
    speaking: speakingOptions(base, around),
  };
}

/** What agents may look up of the gateway, and propose. */
function gatewayDesk({ options, opened, configuration, now }: Base): ToolboxOptions["gateway"] {
  const { home, env } = options;
  const { config, resolved } = configuration;
  const { agents, models, accounts } = resolved;
  return createGatewayDesk({
    home,
    env,
    version: VERSION,
    config,
    agents,
    models,
    accounts,
    redact: opened.redact,
    now,
  });
}

/** How agents speak to people while they work. */
function speakingOptions(
  { options, opened, resolved: { accounts, agents }, now }: Base,
  { account, delivery, media, live }: AroundTools,
): SpeakingOptions {
  const { store, lease, redact } = opened;
  return {
    store,
    lease,
    definition: accounts.definition,
    account,
    accounts: () => accounts.list(),
    delivery,
    mediaOut: media.out,
    live,
    phrasesOf: createPhrasesOf(agents),
    redact,
    logger: options.logger,
    now,
  };
}
