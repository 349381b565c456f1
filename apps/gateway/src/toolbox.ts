import type { BeforeToolCall, OnAsk, Tool, ToolEffects } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import type { InboxId, RunId } from "@signalbox/store";
import {
  checkToolNames,
  createEditTool,
  createExecTool,
  createLsTool,
  createMessageTool,
  createReadTool,
  createRunState,
  createToolRunner,
  createWriteTool,
  describeSandbox,
  openWorkspace,
  type Sandbox,
  startSandbox,
  type TaintSource,
  type ToolRunner,
} from "@signalbox/tools";
import { type Agent, type Agents, allowPath } from "./agents.ts";
import type { Home } from "./home.ts";
import type { MessageSender } from "./message-sender.ts";
import type { Role } from "./path/gate.ts";
import type { Tracer } from "./path/trace.ts";
import type { AgentsSkills } from "./skills.ts";

/** What a run's tools depend on. */
export interface ToolRun {
  readonly agent: Agent;
  /** The message being answered. */
  readonly event: MessageEvent;
  readonly role: Role;
  readonly sessionKey: string;
  readonly runId: RunId;
  /** The message whose trace tells of the decisions. */
  readonly messageId: InboxId;
  /** Told a text that the message tool has sent to this very conversation. */
  readonly onSent: (text: string) => void;
}

/** The tools of one run. */
interface RunTools {
  /** Those this run may use, in the order of the agent's configuration. */
  readonly tools: readonly Tool[];
  readonly effects: (name: string) => ToolEffects;
  /** The gate no call gets around. */
  readonly beforeToolCall: BeforeToolCall;
  readonly onAsk: OnAsk;
  /** A message is part of the run: its speaker may lower what the run may do, what it quotes taints it. */
  heard(event: MessageEvent, role: Role): void;
  /** Untrusted content came in otherwise. */
  tainted(source: TaintSource): void;
  /** What has tainted the run so far. */
  taint(): readonly TaintSource[];
  /** The run is over: its tools reach its conversation no more. */
  end(): void;
}

export interface Toolbox {
  forRun(run: ToolRun): Promise<RunTools>;
}

export interface ToolboxOptions {
  readonly config: Config;
  readonly home: Home;
  readonly agents: Agents;
  readonly skills: AgentsSkills;
  readonly sender: MessageSender;
  readonly tracer: Tracer;
  readonly now: () => number;
}

/** The built-in tools, in the order in which a model sees them where the configuration gives none. */
const BUILT_IN: readonly string[] = ["read", "write", "edit", "ls", "exec", "message"];

/** Opens each agent's workspace and makes its tools; every call goes through the agent's one runner. */
export async function createToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { agents, config, tracer } = options;
  /** The run of each session: there is never more than one. */
  const running = new Map<string, ToolRun>();
  // Proving the sandbox takes a moment; the first run that needs it waits, the start does not.
  const sandbox = agents.all.some((agent) => mayUse(agent, "exec")) ? sandboxOf(config) : undefined;

  const runners = new Map<string, Promise<ToolRunner>>();
  const runnerOf = (agent: Agent): Promise<ToolRunner> => {
    const known = runners.get(agent.id);
    if (known) return known;
    const made = makeRunner(options, agent, sandbox, running, (sessionKey, text, data) => {
      const run = running.get(sessionKey);
      if (run !== undefined) tracer.note(run.messageId, "tool", text, data);
    });
    runners.set(agent.id, made);
    // What failed once, a folder that was away for instance, may be there for the next run.
    made.catch(() => runners.delete(agent.id));
    return made;
  };

  return {
    async forRun(run) {
      const { agent, event, sessionKey } = run;
      const runner = await runnerOf(agent);
      running.set(sessionKey, run);
      const state = createRunState({
        agentId: agent.id,
        sessionKey,
        role: run.role,
        channelKind: event.channel === "api" ? "api" : event.conversation.kind,
        taint: [],
      });
      const { tools, beforeToolCall, onAsk } = runner.forRun(state);
      const effects = new Map(tools.map((tool) => [tool.name, tool.effects]));
      return {
        tools: inOrder(tools, agent),
        effects: (name) => effects.get(name) ?? "external",
        beforeToolCall,
        onAsk,
        heard(heardEvent, role) {
          state.lowerRole(role);
          if (heardEvent.forwarded) state.taint({ source: "forward" });
          if (heardEvent.replyTo?.text !== undefined)
            state.taint({ source: "quote", detail: heardEvent.replyTo.messageId });
        },
        tainted: (source) => state.taint({ source }),
        taint: () => [...new Set(state.facts.taint.map(({ source }) => source))],
        end() {
          if (running.get(sessionKey) === run) running.delete(sessionKey);
        },
      };
    },
  };
}

type Note = (sessionKey: string, text: string, data: { rule: string; call: string }) => void;

async function makeRunner(
  options: ToolboxOptions,
  agent: Agent,
  sandbox: Promise<Sandbox> | undefined,
  running: ReadonlyMap<string, ToolRun>,
  note: Note,
): Promise<ToolRunner> {
  const { home, skills, sender, now } = options;
  const workspace = await openWorkspace({
    dir: agent.workspaceDir,
    readOnlyDirs: skills.dirs,
    forbidden: home.closed,
  });
  const exec =
    sandbox && mayUse(agent, "exec") ? [createExecTool({ workspace, sandbox: await sandbox })] : [];
  const tools = [
    createReadTool({ workspace }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createLsTool({ workspace }),
    ...exec,
    createMessageTool({
      actions: ["send", "react", "edit", "delete"],
      send: (action, { signal, callId, sessionKey }) => {
        const run = running.get(sessionKey);
        if (run === undefined)
          return Promise.resolve({ ok: false, message: "There is no conversation to act in." });
        return sender.act(action, run, { signal, callId });
      },
    }),
  ];
  return createToolRunner({
    tools,
    policy: { allow: agent.tools.allow, deny: agent.tools.deny },
    now,
    record: ({ sessionKey, decision, rule, reason, tool, callId }) =>
      note(sessionKey, `${tool}: ${decision} (${rule}). ${reason}`, { rule, call: callId }),
  });
}

/** Names in the configuration that stand for no tool. */
export function toolProblems(loaded: LoadedConfig, agents: Agents): Problem[] {
  return agents.all.flatMap((agent) =>
    checkToolNames([...agent.tools.allow, ...agent.tools.deny], BUILT_IN).map(({ name, suggestion }) =>
      loaded.problem(allowPath(loaded, agent.id, "tools"), {
        severity: "error",
        message: `agent ${agent.id} names the tool ${name}, which does not exist`,
        remedy: `${suggestion === undefined ? "" : `Did you mean ${suggestion}? `}The tools are ${BUILT_IN.join(", ")}, and * for all.`,
        disables: `tool ${name} of agent ${agent.id}`,
      }),
    ),
  );
}

/** Where commands of agents run, for `doctor`; throws where they cannot. */
export async function describeExec(config: Config, agents: Agents): Promise<string> {
  const users = agents.all.filter((agent) => mayUse(agent, "exec")).map((agent) => agent.id);
  if (users.length === 0) return "no agent may run commands";
  const { ok, summary, notes } = describeSandbox(await sandboxOf(config));
  const text = [summary, ...notes, `Agents that may run commands: ${users.join(", ")}.`].join(" ");
  if (!ok) throw new Error(text);
  return text;
}

function sandboxOf(config: Config): Promise<Sandbox> {
  const { sandbox, timeoutMs } = config.tools.exec;
  return startSandbox({ setting: sandbox === "bubblewrap" ? "default" : sandbox, limits: { timeoutMs } });
}

function mayUse({ tools: { allow, deny } }: Agent, name: string): boolean {
  const listed = (names: readonly string[]): boolean => names.includes(name) || names.includes("*");
  return (listed(allow) || allow.some((one) => one.startsWith("group:"))) && !listed(deny);
}

function inOrder(tools: readonly Tool[], agent: Agent): Tool[] {
  const place = (name: string): number => {
    const listed = agent.tools.allow.indexOf(name);
    return listed >= 0 ? listed : agent.tools.allow.length + BUILT_IN.indexOf(name);
  };
  return tools.toSorted((a, b) => place(a.name) - place(b.name));
}
