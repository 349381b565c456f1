import { join } from "node:path";
import { getSpeakerKey } from "@signalbox/channel";
import { isCurrentConversation } from "@signalbox/delivery";
import type { McpServers } from "@signalbox/mcp";
import { createToolMemory, type Memories, type SessionAccess } from "@signalbox/memory/agents";
import { escapeImitations } from "@signalbox/prompt";
import { getGroupIds } from "@signalbox/routing";
import {
  type AgentFiles,
  type AgentToolboxOptions,
  allowsTool,
  createAgentToolbox,
  createAllowRules,
  type DescribeImage,
} from "@signalbox/tools";
import { createExecSandbox } from "../configure/exec-sandbox.ts";
import { getPhrases } from "../configure/get-phrases.ts";
import { createAdmissionInput } from "../configure/routing.ts";
import { MARKER_FILE } from "../configure/workspace-markers.ts";
import type { CoreContext } from "../core-context.ts";
import { TOOL_ARGUMENTS } from "../hooks/hook-points.ts";
import { warnOfClosed } from "../messages/reply-windows.ts";
import { createCronHandler } from "../triggers/cron-handler.ts";
import type { Delegation } from "../triggers/delegation.ts";
import type { OtherSessions } from "../triggers/other-sessions.ts";
import type { ScheduledTriggers } from "../triggers/scheduled-triggers.ts";
import { createSessionsHandler } from "../triggers/sessions-handler.ts";
import { createAdditionalTools } from "./additional-tools.ts";
import type { Browsers } from "./browser/browsers.ts";
import { createDescribeImage } from "./describe-image.ts";
import { DOCUMENTS } from "./documents.ts";
import { createGatewayTool } from "./gateway-tool.ts";
import type { GenerateForRun } from "./generate-image.ts";
import type { Media } from "./media.ts";
import { createSend, openUserPrompts, type SendOptions, type UserPromptParts } from "./message-tool.ts";
import { withoutSecrets } from "./redacted-stream.ts";
import { getRequester } from "./requester.ts";
import type { Spending } from "./spending.ts";
import { createTimeZones } from "./time-zones.ts";
import type { ToolRun } from "./tool-run.ts";
import type { Toolbox } from "./toolbox.ts";

/** Services that tools use in addition to the core context. */
export interface ToolboxServices extends Pick<AgentFiles, "labels">, SendOptions, UserPromptParts {
  readonly fitPicture: Media["fitPicture"];
  readonly memories: Memories;
  readonly memoryAccess: SessionAccess;
  readonly mcp: McpServers;
  readonly browsers: Browsers;
  readonly scheduled: ScheduledTriggers;
  readonly subAgents: Delegation;
  readonly otherSessions: OtherSessions;
  readonly generateImage: GenerateForRun;
}

type PlacedRun = ToolRun & {
  readonly channelKind: string;
  readonly groups?: readonly string[];
  readonly canAsk: boolean;
  readonly parentTools?: readonly string[];
};

/**
 * Creates the tools of all agents.
 *
 * @param getSpending returns the service that pays for model calls by tools. Called on the first such call.
 */
export function createToolbox(
  core: CoreContext,
  services: ToolboxServices,
  getSpending: () => Spending,
): Toolbox {
  const { options, config, audit, store, now } = core;
  const settings = () => config.current().settings;
  const sandbox = createExecSandbox(settings, options.home.programsDir, { now, start: options.execSandbox });
  // The self-test takes a moment. The first run that needs the sandbox waits for it, but startup does not.
  if (config.current().agents.all.some(({ tools }) => allowsTool(tools, "exec"))) void sandbox();
  const asking = openUserPrompts(core, services);
  const toolbox = createAgentToolbox<PlacedRun>({
    ...abilities(core, services, getSpending),
    ...decisions(core),
    sandbox,
    askUser: (question, run, call) => asking.forAnswer(question, run, call),
    prompt: (approval, run) => asking.forApproval(approval, run),
    onDecided: (approval, approver) => {
      audit.approval(approval, approver);
      void asking.ended(approval);
    },
    onExpired: (approval) => void asking.ended(approval),
    allowRules: createAllowRules(store.kv, () => settings().tools.exec.rules),
    now,
  });
  return {
    approvals: toolbox.approvals,
    endQuestions: (approvals) => Promise.all(approvals.map((approval) => asking.ended(approval))),
    endCommands: (sessionKey) => toolbox.endCommands(sessionKey),
    endCommandsStartedBy: (matches) => toolbox.endCommandsStartedBy(matches),
    commands: () => toolbox.commands(),
    forRun: (run) => toolbox.forRun(withPlace(core, run)),
  };
}

type OptionsOfTools = AgentToolboxOptions<PlacedRun>;

function abilities(core: CoreContext, services: ToolboxServices, getSpending: () => Spending) {
  const { options, config, store, web, now } = core;
  const { memories, memoryAccess, scheduled, subAgents, otherSessions } = services;
  const readOnlyDirs = () => [...config.current().skills.dirs, DOCUMENTS.dir];
  const look: DescribeImage<ToolRun> = (...call) => createDescribeImage(core, getSpending())(...call);
  return {
    folders: ({ workspaceDir }) => ({
      workspace: {
        dir: workspaceDir,
        readOnlyDirs: readOnlyDirs(),
        forbidden: [...options.home.closed, join(workspaceDir, MARKER_FILE)],
        labels: services.labels,
      },
    }),
    memory: (agent) =>
      config.current().settings.memory.enabled ? createToolMemory(memories, agent, memoryAccess) : undefined,
    domains: ({ tools }) => tools.domains,
    environment: async (agent) => (await config.current().skills.forAgent(agent)).environment(),
    cleanText: cleanResult(options.vault),
    fitImage: services.fitPicture,
    fetch: web.fetch,
    browser: ({ id }) => services.browsers.forAgent(id),
    webSearch: () => config.current().settings.tools.web.search,
    gateway: createGatewayTool(core),
    describeImage: () => (config.current().settings.tools.image === undefined ? undefined : look),
    generateImage: () =>
      config.current().settings.tools.imageGeneration === undefined ? undefined : services.generateImage,
    more: createAdditionalTools(core, services.mcp),
    send: createSend(core, services),
    isCurrent: (destination, { event }) => isCurrentConversation(destination, event),
    cron: createCronHandler(scheduled, {
      now,
      getTimeZone: createTimeZones(config),
      async warnOfRefusal(to, at) {
        const closed = await core.replyWindows.findClosed(to, at);
        return closed && warnOfClosed(closed);
      },
    }),
    sessions: createSessionsHandler(subAgents, otherSessions, store),
  } satisfies Partial<OptionsOfTools>;
}

/** Returns a function that removes secrets from a tool result and escapes lines that imitate the gateway's own. */
function cleanResult(vault: Parameters<typeof withoutSecrets>[0]): (text: string) => string {
  const redact = withoutSecrets(vault);
  return (text) => escapeImitations(redact(text));
}

/** Decides about tool calls and records the decisions in the trace and the audit log. */
function decisions(core: CoreContext) {
  const { hooks, tracer, audit, store } = core;
  return {
    approvals: store.approvals,
    getPhrases: ({ agent, event }) => getPhrases(core, { agentId: agent.id, stored: { event } }),
    getRequester,
    async beforeCall(call) {
      const verdict = await hooks.check("before_tool_call", call);
      if (verdict.action === "deny" || !verdict.changed) return verdict;
      return { action: "allow", args: TOOL_ARGUMENTS.parse(verdict.payload.args) };
    },
    record(run, text, data) {
      tracer.note(run.messageId, "run", text, {
        of: "tool",
        rule: data.rule,
        call: data.call,
      });
      const { agent, sessionKey, event } = run;
      audit.tool({ ...data, agentId: agent.id, sessionKey, speaker: getSpeakerKey(event) });
    },
  } satisfies Partial<OptionsOfTools>;
}

/** Adds the conversation to a run, because the policy needs it. */
function withPlace(core: CoreContext, run: ToolRun): PlacedRun {
  const { channel, account, conversation } = run.event;
  // A client that waits for a single answer cannot decide an approval while it waits.
  const waits = core.getCapabilities(channel, account)?.awaitsSingleAnswer === true;
  const parentTools = run.trigger?.subAgent?.tools;
  return {
    ...run,
    channelKind: waits ? "api" : conversation.kind,
    ...(conversation.kind === "direct" ? {} : { groups: getGroupIds(createAdmissionInput(run.event, {})) }),
    canAsk: !waits,
    parentTools,
  };
}
