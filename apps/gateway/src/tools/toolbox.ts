import { speakerOf } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
import { isCurrentConversation } from "@signalbox/delivery";
import type { Home } from "@signalbox/home";
import { createToolMemory, type Memories, type SessionAccess } from "@signalbox/memory/agents";
import type { Auditor } from "@signalbox/store/audit";
import {
  type AgentToolboxOptions,
  type AgentToolboxRun,
  type Approval,
  type Approvals,
  allowsTool,
  type BackgroundProcess,
  type CronRequest,
  createAgentToolbox,
  createAllowRules,
  type DescribeImage,
  type FileLabels,
  type GatewayToolOptions,
  type GuardedFetch,
  type SessionsCall,
  type SessionsRequest,
  type UserQuestions,
} from "@signalbox/tools";
import { createExecSandbox, type StartExecSandbox } from "../agent/exec-sandbox.ts";
import type { Media } from "../agent/media.ts";
import type { MoreToolsOf } from "../agent/more-tools.ts";
import type { Agents } from "../configure/agents.ts";
import type { AgentsSkills } from "../configure/skills.ts";
import { type GatewayHooks, TOOL_ARGUMENTS } from "../hooks/hook-points.ts";
import type { Tracer } from "../traces.ts";
import { createSend, openAsking, type SpeakingOptions } from "./speaking.ts";
import type { ToolRun } from "./tool-run.ts";

export type RunTools = AgentToolboxRun;

export interface Toolbox {
  /** The approval requests of all agents' tools. */
  readonly approvals: Approvals;
  /** Takes the buttons away from questions that an earlier process has left, once their accounts run. */
  endQuestions(approvals: readonly Approval[]): Promise<unknown>;
  forRun(run: ToolRun): Promise<RunTools>;
  /** Ends the commands in the background, of one conversation or, where the gateway stops, of all. */
  endCommands(sessionKey?: string): Promise<void>;
  /** Ends those that were started for such speakers. */
  endCommandsOf(isOf: (speaker: string) => boolean): Promise<void>;
  /** Commands that go on in the background. */
  commands(): readonly BackgroundProcess[];
}

export interface ToolboxOptions {
  /** As it is at the moment. */
  readonly config: () => Pick<Config, "tools">;
  readonly home: Home;
  readonly labels: FileLabels;
  readonly agents: Agents;
  /** Whose entries set the environment of commands. */
  readonly skills: Pick<AgentsSkills, "forAgent">;
  /** Takes secrets out of what tools answer. */
  readonly withoutSecrets: (text: string) => string;
  /** Folders outside the workspaces in which agents may read. */
  readonly readOnlyDirs: () => readonly string[];
  readonly more: MoreToolsOf;
  readonly fetch: GuardedFetch;
  readonly fitPicture: Media["fitPicture"];
  readonly tracer: Tracer;
  readonly hooks: GatewayHooks;
  readonly audit: Pick<Auditor, "tool" | "approval">;
  readonly memories: () => Memories | undefined;
  readonly memoryAccess: SessionAccess;
  /** What agents have asked people. */
  readonly userQuestions: UserQuestions;
  /** What the cron tool does. */
  readonly cron: (request: CronRequest, run: ToolRun, call: { readonly callId: string }) => Promise<string>;
  /** What the tools for sub-agents do, in a run with the tools of these names. */
  readonly sessions: (
    request: SessionsRequest,
    run: ToolRun & { readonly offered: readonly string[] },
    call: SessionsCall,
  ) => Promise<string>;
  /** What agents are told of the gateway, and what happens to the changes they propose. */
  readonly gateway: GatewayToolOptions;
  /** Has the model of the configuration look at a picture. */
  readonly look: DescribeImage<ToolRun>;
  readonly speaking: SpeakingOptions;
  readonly execSandbox?: StartExecSandbox | undefined;
  readonly now: () => number;
}

type PlacedRun = ToolRun & {
  readonly channelKind: string;
  readonly canAsk: boolean;
  readonly parentTools?: readonly string[];
};

/** The tools of every agent, over this gateway's folders, channels, hooks and traces. */
export function createToolbox(options: ToolboxOptions): Toolbox {
  const { agents, config, home, audit, speaking, now } = options;
  const sandbox = createExecSandbox(config, home.programsDir, { now, start: options.execSandbox });
  // Proving it takes a moment; the first run that needs it waits, the start does not.
  if (agents.all.some(({ tools }) => allowsTool(tools, "exec"))) void sandbox();
  const asking = openAsking(speaking, options.userQuestions);
  const toolbox = createAgentToolbox<PlacedRun>({
    ...abilities(options),
    ...decisions(options),
    sandbox,
    askUser: (question, run, call) => asking.forAnswer(question, run, call),
    prompt: (approval, run) => asking.forApproval(approval, run),
    onDecided: (approval, approver) => {
      audit.approval(approval, approver);
      void asking.ended(approval);
    },
    onExpired: (approval) => void asking.ended(approval),
    allowRules: createAllowRules(speaking.store.kv, () => config().tools.exec.rules),
    now,
  });
  return {
    approvals: toolbox.approvals,
    endQuestions: (approvals) => Promise.all(approvals.map((approval) => asking.ended(approval))),
    endCommands: (sessionKey) => toolbox.endCommands(sessionKey),
    endCommandsOf: (isOf) => toolbox.endCommandsOf(isOf),
    commands: () => toolbox.commands(),
    forRun: (run) => toolbox.forRun(withPlace(run, speaking.definition)),
  };
}

type OptionsOfTools = AgentToolboxOptions<PlacedRun>;

/** What the tools work with. */
function abilities(
  options: ToolboxOptions,
): Omit<
  OptionsOfTools,
  | "sandbox"
  | "askUser"
  | "prompt"
  | "onDecided"
  | "onExpired"
  | "getPhrases"
  | "allowRules"
  | "approvals"
  | "beforeCall"
  | "record"
  | "now"
> {
  const { config, home, labels, skills, memories, memoryAccess, speaking } = options;
  return {
    folders: ({ workspaceDir }) => ({
      workspace: { dir: workspaceDir, readOnlyDirs: options.readOnlyDirs(), forbidden: home.closed, labels },
    }),
    memory(agent) {
      const remembered = memories();
      return remembered === undefined ? undefined : createToolMemory(remembered, agent, memoryAccess);
    },
    domains: ({ tools }) => tools.domains,
    environment: async (agent) => (await skills.forAgent(agent)).environment(),
    withoutSecrets: options.withoutSecrets,
    fitImage: options.fitPicture,
    fetch: options.fetch,
    webSearch: () => config().tools.web.search,
    gateway: options.gateway,
    describeImage: () => (config().tools.image === undefined ? undefined : options.look),
    more: options.more,
    send: createSend(speaking),
    isCurrent: (destination, { event }) => isCurrentConversation(destination, event),
    cron: options.cron,
    sessions: options.sessions,
  };
}

/** Who decides about calls, and where that is noted. */
function decisions({
  hooks,
  tracer,
  audit,
  speaking,
}: ToolboxOptions): Pick<OptionsOfTools, "approvals" | "getPhrases" | "beforeCall" | "record"> {
  return {
    approvals: speaking.store.approvals,
    getPhrases: ({ agent, event }) => speaking.phrasesOf({ agentId: agent.id, stored: { event } }),
    async beforeCall(call) {
      const verdict = await hooks.gate("before_tool_call", call);
      if (verdict.action === "deny" || !verdict.changed) return verdict;
      return { action: "allow", args: TOOL_ARGUMENTS.parse(verdict.payload.args) };
    },
    record(run, text, data) {
      tracer.note(run.messageId, "tool", text, {
        rule: data.rule,
        ...(data.call === undefined ? {} : { call: data.call }),
      });
      const { agent, sessionKey, event } = run;
      audit.tool({ ...data, agentId: agent.id, sessionKey, speaker: speakerOf(event) });
    },
  };
}

/** A run with what policy knows of where it is. */
function withPlace(run: ToolRun, definition: SpeakingOptions["definition"]): PlacedRun {
  const { channel, account, conversation } = run.event;
  // A client that waits for one answer can give none in between.
  const waits = definition(channel, account)?.capabilities.awaitsSingleAnswer === true;
  const parentTools = run.wake?.subAgent?.tools;
  return {
    ...run,
    channelKind: waits ? "api" : conversation.kind,
    canAsk: !waits,
    ...(parentTools === undefined ? {} : { parentTools }),
  };
}
