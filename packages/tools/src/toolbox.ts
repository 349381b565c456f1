import type { BeforeToolCall, JsonObject, OnAsk, Tool, ToolEffects, ToolResult } from "@signalbox/agent-core";
import type { Approval, ApprovalStore } from "./approval-store.ts";
import { createApprovals } from "./approvals.ts";
import { type AttachmentSource, decideAttachment } from "./attachments.ts";
import { createProcesses } from "./background/processes.ts";
import { BUILT_IN_TOOLS, type BuiltInToolsOptions, createBuiltInTools } from "./built-in.ts";
import type { CronRequest, CronToolOptions } from "./cron.ts";
import type { ToolDefinition } from "./define.ts";
import { createGivenLinks } from "./given-links.ts";
import type { AskUserToolOptions, UserQuestion } from "./inquiries/ask-user.ts";
import type { InquiryEnd } from "./inquiries/inquiry.ts";
import type { AgentMemory } from "./memory.ts";
import type { MessageAction, MessageOutcome } from "./message.ts";
import { allowsTool, type ToolPolicy, type ToolRule } from "./policy.ts";
import { createQuestions, type Questions } from "./questions.ts";
import { failure } from "./result.ts";
import { createRunState, type RunState } from "./run-state.ts";
import { createToolRunner, type DirectCallOptions, type RunTools, type ToolRunner } from "./runner.ts";
import type { SessionsCall, SessionsRequest, SessionsToolsOptions } from "./sessions.ts";
import type { StandingRule } from "./shell/standing-rules.ts";
import type { Role, TaintMark, TaintSource } from "./types.ts";

/** A run as far as its tools go. A host adds what its own functions in {@link ToolboxOptions} need. */
export interface ToolRun {
  readonly agent: { readonly id: string; readonly tools: ToolPolicy };
  readonly sessionKey: string;
  /** Of whoever speaks first in it. */
  readonly role: Role;
  /** Who that is, by an id that never changes. */
  readonly speaker: string;
  /** See `RunFacts`. */
  readonly channelKind: string;
  /** Whether somebody can answer a question while the run goes on. */
  readonly canAsk: boolean;
  /** See `RunFacts`. */
  readonly models?: readonly string[];
  /** See `RunFacts`. */
  readonly parentTools?: readonly string[];
}

/** Whether a run may give something out, decided and noted as a `read` of it would be. */
export type MayAttach = (
  source: AttachmentSource,
) => { readonly ok: true } | { readonly ok: false; readonly why: string };

export interface ToolboxOptions<Run extends ToolRun> {
  /** Where the tools of an agent work. */
  readonly folders: (agent: Run["agent"]) => Pick<BuiltInToolsOptions, "workspace">;
  /** What an agent remembers. Default: nothing, and it has no tools for it. */
  readonly memory?: (agent: Run["agent"]) => AgentMemory | undefined;
  readonly sandbox: BuiltInToolsOptions["sandbox"];
  /** Hosts that an agent's commands may reach, where policy lets them. Default: none. */
  readonly domains?: (agent: Run["agent"]) => readonly string[];
  readonly fetch: BuiltInToolsOptions["fetch"];
  /** The service behind `web_search`, asked for whenever an agent's tools are made. Default: none, and no such tool. */
  readonly webSearch?: () => BuiltInToolsOptions["webSearch"];
  /** Carries out what the message tool asks for. */
  readonly send: (
    action: MessageAction,
    run: Run & { readonly mayAttach: MayAttach },
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<MessageOutcome>;
  /** Carries out what the cron tool asks for. Default: nothing runs by itself, and there is no such tool. */
  readonly cron?: (request: CronRequest, run: Run, call: { readonly callId: string }) => Promise<string>;
  /**
   * Asks the person that a run works for, see {@link AskUserToolOptions.ask}. Default: people are
   * asked nothing, and there is no such tool.
   */
  readonly askUser?: (
    question: UserQuestion,
    run: Run,
    call: { readonly callId: string; readonly signal: AbortSignal },
  ) => Promise<InquiryEnd>;
  /**
   * Carries out what is asked of sub-agents, by a run with these tools. Default: there are none, and no tools for them.
   */
  readonly sessions?: (
    request: SessionsRequest,
    run: Run & { readonly offered: readonly string[] },
    call: SessionsCall,
  ) => Promise<string>;
  /** Tools besides the built-in ones, asked for before each run. Default: none. */
  readonly more?: (agent: Run["agent"]) => Promise<MoreTools>;
  /** Where questions to people are kept. */
  readonly approvals: ApprovalStore;
  /** Puts a question to people. */
  readonly ask: (approval: Approval, run: Run) => Promise<void>;
  /** What an agent may do unasked where its rule asks about what is not listed. Default: nothing. */
  readonly standingRules?: (
    agent: Run["agent"],
  ) => readonly StandingRule[] | Promise<readonly StandingRule[]>;
  /** Code of the host ahead of every decision. */
  readonly beforeCall: (call: HookedCall) => Promise<HookVerdict>;
  /** Puts a decision on record. When it throws, the call does not run. */
  readonly note: (run: Run, text: string, data: NotedDecision) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What was decided, in parts. */
interface NotedDecision {
  /** The tool, or `attach` for what a reply was to carry. */
  readonly tool: string;
  readonly decision: "allow" | "ask" | "deny";
  readonly rule: string;
  readonly call?: string;
}

/** Tools that are not built in: a host's own, of packages, of servers. */
export interface MoreTools {
  readonly tools: readonly ToolDefinition[];
  /** What the run has seen that is shown them: words about them that nobody has looked at. Default: nothing. */
  readonly taint?: readonly TaintMark[];
}

export interface HookedCall {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly tool: string;
  readonly callId: string;
  readonly args: unknown;
}

/** Changed arguments are checked by the tool's schema again, and judged before the tool runs. */
export type HookVerdict =
  | { readonly action: "allow"; readonly args?: JsonObject }
  | { readonly action: "deny"; readonly reason: string };

/** A call that a command makes, not the model. */
export interface CommandCallOptions extends Omit<DirectCallOptions, "asked"> {
  /** How a person's answer is waited for. */
  readonly asking: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** The tools of one run. */
export interface ToolboxRun extends Pick<RunTools, "tools"> {
  readonly mayAttach: MayAttach;
  readonly effects: (name: string) => ToolEffects;
  /** The gate that no call of the model gets around. */
  readonly beforeToolCall: BeforeToolCall;
  readonly onAsk: OnAsk;
  /**
   * For what is not the model's wish: goes through the same gate. A question that comes up is waited for; where the
   * toolbox is closed meanwhile this throws the reason, and nothing was done.
   */
  readonly call: (name: string, args: unknown, how: CommandCallOptions) => Promise<ToolResult>;
  /** A message is part of the run: its speaker may lower what the run may do, what it quotes taints it. */
  heard(message: HeardMessage, role: Role, speaker: string): void;
  /** Addresses in this text were not thought of by the model. */
  given(text: string): void;
  /** Untrusted content came in otherwise. */
  tainted(source: TaintSource): void;
  /** What has tainted the run so far. */
  taint(): readonly TaintSource[];
  /** The weakest role that has spoken in it so far. */
  role(): Role;
  /** The run is over: its tools reach its conversation no more. */
  end(): void;
}

/** A message of the run, as far as it bears on what the run may do. */
export interface HeardMessage {
  readonly text: string;
  /** Present where somebody else's words were passed on. */
  readonly forwarded?: object;
  readonly replyTo?: { readonly messageId: string; readonly text?: string };
}

export interface Toolbox<Run extends ToolRun> {
  /** The questions of all agents' tools. Close it when the host stops. */
  readonly approvals: Questions;
  forRun(run: Run): Promise<ToolboxRun>;
  /** Makes an agent's tools ahead of its first run. */
  prepare(agent: Run["agent"]): Promise<void>;
  /** Ends the commands in the background, of one conversation or of all: then none is started any more. */
  endCommands(sessionKey?: string): Promise<void>;
}

/**
 * The tools of every agent. Each call, of the model or of a command, is shown to the host's hooks (`beforeCall`), then
 * judged by the agent's one runner, which reaches a tool's body only with a decision on record.
 */
export function createToolbox<Run extends ToolRun>(options: ToolboxOptions<Run>): Toolbox<Run> {
  type Active = Run & { readonly mayAttach: MayAttach; readonly offered: readonly string[] };
  /** The run of each session: there is never more than one. */
  const running = new Map<string, Active>();
  const links = createGivenLinks();
  const processes = createProcesses(options.now);
  const { approvals: store, now } = options;
  const approvals = createQuestions(createApprovals({ store, now }), async (approval) => {
    const run = running.get(approval.sessionKey);
    if (run !== undefined) await options.ask(approval, run);
  });

  const { cron } = options;
  const carryOut: CronToolOptions["carryOut"] | undefined =
    cron &&
    ((request, { sessionKey, callId }) => {
      const run = running.get(sessionKey);
      return run === undefined
        ? Promise.reject(new Error("The run is over."))
        : cron(request, run, { callId });
    });

  const { askUser } = options;
  const ask: AskUserToolOptions["ask"] | undefined =
    askUser &&
    (async (question, { sessionKey, callId, signal }) => {
      const run = running.get(sessionKey);
      if (run === undefined) throw new Error("The run is over.");
      const end = await askUser(question, run, { callId, signal });
      // Addresses in it are the person's own words, as those in a message are; in an option they are the model's.
      if (end.kind === "answered" && !question.options.includes(end.text)) links.add(sessionKey, end.text);
      return end;
    });

  const { sessions } = options;
  const delegate: SessionsToolsOptions["carryOut"] | undefined =
    sessions &&
    ((request, call) => {
      const run = running.get(call.sessionKey);
      return run === undefined ? Promise.reject(new Error("The run is over.")) : sessions(request, run, call);
    });

  const makeRunner = async (agent: Run["agent"]): Promise<ToolRunner> => {
    const memory = options.memory?.(agent);
    const webSearch = options.webSearch?.();
    return createToolRunner({
      tools: await createBuiltInTools(agent.tools, {
        ...options.folders(agent),
        ...(memory === undefined ? {} : { memory }),
        sandbox: options.sandbox,
        domains: options.domains?.(agent) ?? [],
        processes,
        fetch: options.fetch,
        ...(webSearch === undefined ? {} : { webSearch }),
        ...(carryOut === undefined ? {} : { cron: carryOut }),
        ...(ask === undefined ? {} : { askUser: ask }),
        ...(delegate === undefined ? {} : { sessions: delegate }),
        isGiven: (url, facts) => links.has(facts.sessionKey, url),
        send(action, { signal, callId, sessionKey }) {
          const run = running.get(sessionKey);
          if (run !== undefined) return options.send(action, run, { signal, callId });
          return Promise.resolve({ ok: false, message: "There is no conversation to act in." });
        },
      }),
      policy: agent.tools,
      approvals,
      standingRules: () => options.standingRules?.(agent) ?? [],
      now: options.now,
      record({ sessionKey, decision, rule, reason, tool, callId }) {
        const run = running.get(sessionKey);
        if (run === undefined) throw new Error("The run is over.");
        options.note(run, `${tool}: ${decision} (${rule}). ${reason}`, {
          tool,
          decision,
          rule,
          call: callId,
        });
      },
    });
  };
  const runners = new Map<string, { readonly rule: ToolPolicy; readonly runner: Promise<ToolRunner> }>();
  const runnerOf = async (agent: Run["agent"]): Promise<ToolRunner> => {
    const { id, tools: rule } = agent;
    const before = runners.get(id);
    if (before?.rule === rule) return before.runner;
    // A host may give an agent another rule while it runs: what that allows no more is over.
    if (!allowsTool(rule, "exec") || !allowsTool(rule, "process")) await processes.end({ agentId: id });
    const runner = makeRunner(agent);
    runners.set(id, { rule, runner });
    // What failed once, a folder that was away for instance, may be there for the next run.
    runner.catch(() => runners.delete(id));
    return runner;
  };

  return {
    approvals,
    endCommands: (sessionKey) => processes.end(sessionKey === undefined ? undefined : { sessionKey }),
    async prepare(agent) {
      await runnerOf(agent);
    },
    async forRun(run) {
      const { agent, sessionKey, role, speaker, channelKind, canAsk } = run;
      const runner = await runnerOf(agent);
      const more: MoreTools = (await options.more?.(agent)) ?? { tools: [] };
      const state = createRunState({
        agentId: agent.id,
        sessionKey,
        role,
        speaker,
        channelKind,
        taint: more.taint ?? [],
        ...(run.models === undefined ? {} : { models: run.models }),
        ...(run.parentTools === undefined ? {} : { parentTools: run.parentTools }),
      });
      const runTools = runner.forRun(state, { canAsk, more: more.tools });
      const mayAttach: MayAttach = (source) => {
        const { decision, rule, reason } = decideAttachment(agent.tools, state.facts, source);
        options.note(run, `attach ${JSON.stringify(source)}: ${decision} (${rule}). ${reason}`, {
          tool: "attach",
          decision,
          rule,
        });
        return decision === "allow" ? { ok: true } : { ok: false, why: reason };
      };
      const active: Active = { ...run, mayAttach, offered: runTools.tools.map(({ name }) => name) };
      running.set(sessionKey, active);
      const hooked = async (tool: string, callId: string, args: unknown): Promise<HookVerdict> => {
        const verdict = await options.beforeCall({ agentId: agent.id, sessionKey, tool, callId, args });
        if (verdict.action === "deny")
          options.note(run, `${tool}: deny (hook). ${verdict.reason}`, {
            tool,
            decision: "deny",
            rule: "hook",
            call: callId,
          });
        return verdict;
      };
      return {
        ...gated(runTools, approvals, hooked, agent.tools),
        ...inputsOf(state, (text) => links.add(sessionKey, text)),
        mayAttach,
        end() {
          if (running.get(sessionKey) === active) running.delete(sessionKey);
        },
      };
    },
  };
}

/**
 * The way of a call: the host's hooks, then the decision (`judge.ts`), then perhaps a question, and only then the
 * tool's body (`runner.ts`), which takes nothing but the permit that came of a recorded decision.
 */
function gated(
  runTools: RunTools,
  approvals: Questions,
  hooked: (tool: string, callId: string, args: unknown) => Promise<HookVerdict>,
  rule: ToolRule,
): Pick<ToolboxRun, "tools" | "effects" | "beforeToolCall" | "onAsk" | "call"> {
  const { beforeToolCall, onAsk, call } = runTools;
  const tools = inOrder(runTools.tools, rule);
  return {
    tools,
    effects: (name) => tools.find((tool) => tool.name === name)?.effects ?? "external",
    async beforeToolCall(info) {
      const verdict = await hooked(info.tool.name, info.call.id, info.args);
      if (verdict.action === "deny") return { action: "block", reason: `Not allowed. ${verdict.reason}` };
      if (verdict.args !== undefined) return { action: "change", args: verdict.args };
      return beforeToolCall(info);
    },
    // A stop does not wait for people: the call stays open, and the next start asks again.
    onAsk: (info) =>
      Promise.race([
        Promise.resolve(onAsk(info)),
        approvals.closed.catch(() => ({ action: "wait" }) as const),
      ]),
    async call(name, args, how) {
      const verdict = await hooked(name, how.callId, args);
      if (verdict.action === "deny") return failure(`Not allowed. ${verdict.reason}`);
      const finalArgs = verdict.args ?? args;
      const questions: Approval[] = [];
      const result = await call(name, finalArgs, { ...how, asked: (approval) => questions.push(approval) });
      const [question] = questions;
      if (question === undefined) return result;
      const answer = await how.asking(() =>
        Promise.race([approvals.wait(question.id, how.signal), approvals.closed]),
      );
      if (answer === "allowed") return call(name, finalArgs, how);
      return failure(answer === "denied" ? "The approval was refused." : "Nobody approved it in time.");
    },
  };
}

/** What comes into a run, and what it does to the run's facts. */
function inputsOf(
  state: RunState,
  given: (text: string) => void,
): Pick<ToolboxRun, "heard" | "given" | "tainted" | "taint" | "role"> {
  return {
    given,
    heard({ text, forwarded, replyTo }, role, speaker) {
      state.spoke(role, speaker);
      given(`${text}\n${replyTo?.text ?? ""}`);
      if (forwarded !== undefined) state.taint({ source: "forward" });
      if (replyTo?.text !== undefined) state.taint({ source: "quote", detail: replyTo.messageId });
    },
    tainted: (source) => state.taint({ source }),
    role: () => state.facts.role,
    taint: () => [...new Set(state.facts.taint.map(({ source }) => source))],
  };
}

/** By the agent's own list, the others after them. */
function inOrder(tools: readonly Tool[], { allow = [] }: ToolRule): Tool[] {
  const place = (name: string): number => {
    const [listed, builtIn] = [allow.indexOf(name), BUILT_IN_TOOLS.indexOf(name)];
    if (listed >= 0) return listed;
    return allow.length + (builtIn >= 0 ? builtIn : BUILT_IN_TOOLS.length);
  };
  return tools.toSorted((a, b) => place(a.name) - place(b.name));
}
