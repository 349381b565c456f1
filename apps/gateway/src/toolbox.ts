import type { BeforeToolCall, OnAsk, Tool, ToolEffects, ToolResult } from "@signalbox/agent-core";
import { INBOX_FOLDER, type MayAttach } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import type { InboxId, RunId } from "@signalbox/store";
import {
  type Approval,
  type Approvals,
  allowsTool,
  checkToolNames,
  createEditTool,
  createExecTool,
  createLsTool,
  createMessageTool,
  createReadTool,
  createRunState,
  createToolRunner,
  createWebFetchTool,
  createWriteTool,
  type DirectCallOptions,
  describeSandbox,
  type GuardedFetch,
  openWorkspace,
  type Sandbox,
  startSandbox,
  type TaintSource,
  type ToolRunner,
} from "@signalbox/tools";
import { type Agent, type Agents, allowPath } from "./agents.ts";
import { createApprovals, type QuestionOptions, type Questions } from "./approvals.ts";
import { decideAttachment } from "./attach-policy.ts";
import { createGivenLinks, type GivenLinks } from "./given-links.ts";
import type { Home } from "./home.ts";
import { type GatewayHooks, TOOL_ARGUMENTS } from "./hooks/points.ts";
import type { MessageSender } from "./message-sender.ts";
import type { Role } from "./path/2-admit/gate.ts";
import type { Asking } from "./path/6-run/waiting.ts";
import { ShutdownAbort } from "./path/shutdown.ts";
import type { AgentsSkills } from "./skills.ts";
import type { Tracer } from "./trace/tracer.ts";

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
  /** Told a text, or the mark of an attachment, that the message tool has sent to this very conversation. */
  readonly onSent: (text: string) => void;
}

/** A run with what its tools may give out. */
export interface ActiveRun extends ToolRun {
  /** Decided, and noted, as a `read` of it would be. */
  readonly mayAttach: MayAttach;
}

interface DirectCall extends DirectCallOptions {
  /** How a person's answer is waited for. */
  readonly asking: Asking["during"];
}

/** The tools of one run. */
export interface RunTools {
  readonly mayAttach: MayAttach;
  /** Those this run may use, in the order of the agent's configuration. */
  readonly tools: readonly Tool[];
  readonly effects: (name: string) => ToolEffects;
  /** The gate no call gets around. */
  readonly beforeToolCall: BeforeToolCall;
  readonly onAsk: OnAsk;
  /**
   * For what is not the model's wish: goes through the same gate. A question that comes up is waited for; where the
   * gateway stops meanwhile it throws a `ShutdownAbort`, and nothing was done.
   */
  readonly call: (name: string, args: unknown, how: DirectCall) => Promise<ToolResult>;
  /** A message is part of the run: its speaker may lower what the run may do, what it quotes taints it. */
  heard(event: MessageEvent, role: Role): void;
  /** Addresses in this text were not thought of by the model. */
  given(text: string): void;
  /** Untrusted content came in otherwise. */
  tainted(source: TaintSource): void;
  /** What has tainted the run so far. */
  taint(): readonly TaintSource[];
  /** The run is over: its tools reach its conversation no more. */
  end(): void;
}

export interface Toolbox {
  /** The questions of all agents' tools. */
  readonly approvals: Questions;
  forRun(run: ToolRun): Promise<RunTools>;
}

export interface ToolboxOptions {
  readonly config: Config;
  readonly home: Home;
  readonly agents: Agents;
  readonly skills: AgentsSkills;
  readonly sender: MessageSender;
  readonly fetch: GuardedFetch;
  readonly tracer: Tracer;
  readonly hooks: GatewayHooks;
  /** How questions reach people. */
  readonly questions: QuestionOptions;
  readonly now: () => number;
}

/** The built-in tools, in the order in which a model sees them where the configuration gives none. */
const BUILT_IN: readonly string[] = ["read", "write", "edit", "ls", "exec", "message", "web_fetch"];
const PAGE_BYTES = 5_000_000;

/** Opens each agent's workspace and makes its tools; every call goes through the agent's one runner. */
export async function createToolbox(options: ToolboxOptions): Promise<Toolbox> {
  const { agents, config, tracer } = options;
  /** The run of each session: there is never more than one. */
  const running = new Map<string, ActiveRun>();
  const given = createGivenLinks();
  // Proving the sandbox takes a moment; the first run that needs it waits, the start does not.
  const sandbox = agents.all.some((agent) => allowsTool(agent.tools, "exec")) ? sandboxOf(config) : undefined;

  const runners = new Map<string, Promise<ToolRunner>>();
  const approvals = createApprovals(options.questions, (sessionKey) => running.get(sessionKey));
  const runnerOf = (agent: Agent, asks: boolean): Promise<ToolRunner> => {
    const key = `${asks} ${agent.id}`;
    const known = runners.get(key);
    if (known) return known;
    const made = makeRunner(
      options,
      agent,
      sandbox,
      running,
      given,
      asks ? approvals : undefined,
      (sessionKey, text, data) => {
        const run = running.get(sessionKey);
        if (run !== undefined) tracer.note(run.messageId, "tool", text, data);
      },
    );
    runners.set(key, made);
    // What failed once, a folder that was away for instance, may be there for the next run.
    made.catch(() => runners.delete(key));
    return made;
  };

  return {
    approvals,
    async forRun(run) {
      const { agent, event, sessionKey } = run;
      const { definition } = options.questions;
      // A client that waits for one answer can give none in between.
      const waits = definition(event.channel, event.account)?.capabilities.awaitsSingleAnswer === true;
      const runner = await runnerOf(agent, !waits);
      const state = createRunState({
        agentId: agent.id,
        sessionKey,
        role: run.role,
        channelKind: waits ? "api" : event.conversation.kind,
        taint: [],
      });
      const { tools, beforeToolCall, onAsk, call } = runner.forRun(state);
      const mayAttach: MayAttach = (what) => {
        const { decision, rule, reason } = decideAttachment(agent, state.facts, what);
        const text = `attach ${JSON.stringify(what)}: ${decision} (${rule}). ${reason}`;
        tracer.note(run.messageId, "tool", text, { rule });
        return decision === "allow" ? { ok: true } : { ok: false, why: reason };
      };
      const active: ActiveRun = { ...run, mayAttach };
      running.set(sessionKey, active);
      const gate = async (tool: string, callId: string, args: unknown) => {
        const asked = { agentId: agent.id, sessionKey, tool, callId, args };
        const verdict = await options.hooks.gate("before_tool_call", asked);
        if (verdict.action === "deny")
          tracer.note(run.messageId, "tool", `${tool}: deny (hook). ${verdict.reason}`);
        return verdict;
      };
      const effects = new Map(tools.map((tool) => [tool.name, tool.effects]));
      return {
        mayAttach,
        tools: inOrder(tools, agent),
        effects: (name) => effects.get(name) ?? "external",
        async beforeToolCall(info) {
          const verdict = await gate(info.tool.name, info.call.id, info.args);
          if (verdict.action === "deny") return { action: "block", reason: `Not allowed. ${verdict.reason}` };
          // Other arguments are checked by the schema again, and judged before the tool runs.
          if (verdict.changed) return { action: "change", args: TOOL_ARGUMENTS.parse(verdict.payload.args) };
          return beforeToolCall(info);
        },
        // A stop does not wait for people: the call stays open, and the next start asks again.
        onAsk: (info) =>
          Promise.race([
            Promise.resolve(onAsk(info)),
            approvals.closed.then(() => ({ action: "wait" }) as const),
          ]),
        async call(name, args, how) {
          const verdict = await gate(name, how.callId, args);
          if (verdict.action === "deny") return failed(`Not allowed. ${verdict.reason}`);
          const given = verdict.payload.args;
          const questions: Approval[] = [];
          const result = await call(name, given, { ...how, asked: (approval) => questions.push(approval) });
          const [question] = questions;
          if (question === undefined) return result;
          const answer = await how.asking(() =>
            Promise.race([approvals.wait(question.id, how.signal), approvals.closed]),
          );
          if (answer === undefined) throw new ShutdownAbort("the gateway stops while somebody is asked");
          if (answer === "allowed") return call(name, given, how);
          return failed(answer === "denied" ? "The approval was refused." : "Nobody approved it in time.");
        },
        given: (text) => given.add(sessionKey, text),
        heard(heardEvent, role) {
          state.lowerRole(role);
          given.add(sessionKey, `${heardEvent.text}\n${heardEvent.replyTo?.text ?? ""}`);
          if (heardEvent.forwarded) state.taint({ source: "forward" });
          if (heardEvent.replyTo?.text !== undefined)
            state.taint({ source: "quote", detail: heardEvent.replyTo.messageId });
        },
        tainted: (source) => state.taint({ source }),
        taint: () => [...new Set(state.facts.taint.map(({ source }) => source))],
        end() {
          if (running.get(sessionKey) === active) running.delete(sessionKey);
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
  running: ReadonlyMap<string, ActiveRun>,
  given: GivenLinks,
  approvals: Approvals | undefined,
  note: Note,
): Promise<ToolRunner> {
  const { home, skills, sender, now } = options;
  const workspace = await openWorkspace({
    dir: agent.workspaceDir,
    readOnlyDirs: skills.dirs,
    userHome: skills.userHome,
    forbidden: home.closed,
  });
  const exec =
    sandbox && allowsTool(agent.tools, "exec")
      ? [createExecTool({ workspace, sandbox: await sandbox, foreign: [INBOX_FOLDER] })]
      : [];
  const tools = [
    createReadTool({ workspace, foreign: [INBOX_FOLDER] }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createLsTool({ workspace }),
    ...exec,
    ...(allowsTool(agent.tools, "web_fetch")
      ? [
          createWebFetchTool({
            fetch: (url, how) => options.fetch(url, { ...how, maxBytes: PAGE_BYTES }),
            isGiven: (url, facts) => given.has(facts.sessionKey, url),
          }),
        ]
      : []),
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
    ...(approvals === undefined ? {} : { approvals }),
    now,
    record: ({ sessionKey, decision, rule, reason, tool, callId }) =>
      note(sessionKey, `${tool}: ${decision} (${rule}). ${reason}`, { rule, call: callId }),
  });
}

function failed(text: string): ToolResult {
  return { isError: true, content: [{ type: "text", text }] };
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
  const users = agents.all.filter((agent) => allowsTool(agent.tools, "exec")).map((agent) => agent.id);
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

/** The tools an agent has. */
export function toolsOf(agent: Agent): readonly string[] {
  return BUILT_IN.filter((name) => allowsTool(agent.tools, name));
}

function inOrder(tools: readonly Tool[], agent: Agent): Tool[] {
  const place = (name: string): number => {
    const listed = agent.tools.allow.indexOf(name);
    return listed >= 0 ? listed : agent.tools.allow.length + BUILT_IN.indexOf(name);
  };
  return tools.toSorted((a, b) => place(a.name) - place(b.name));
}
