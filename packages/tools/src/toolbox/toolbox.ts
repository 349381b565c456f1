import type { Tool } from "@signalbox/agent-core";
import { createApprovals } from "../approvals.ts";
import { decideAttachment } from "../attachments.ts";
import { type BackgroundProcess, createProcesses, type Processes } from "../background/processes.ts";
import { type BuiltInToolsOptions, createBuiltInTools } from "../built-in.ts";
import { createGivenLinks } from "../given-links.ts";
import type { LooksUpInForce } from "../in-force.ts";
import { allowsTool, type ToolPolicy } from "../policy.ts";
import { createQuestions, type Questions } from "../questions.ts";
import { createRunState, type RunState } from "../run-state.ts";
import { createToolRunner, type ToolRunner } from "../runner.ts";
import type { RunFacts, TaintMark } from "../types.ts";
import type { AskUserToolOptions } from "../user-questions/ask-user.ts";
import type { HookVerdict, MayAttach, MoreTools, ToolboxOptions, ToolRun } from "./options.ts";
import { gated, inputsOf, type ToolboxRun } from "./run.ts";

export interface Toolbox<Run extends ToolRun> {
  /** The questions of all agents' tools. Close it when the host stops. */
  readonly approvals: Questions;
  forRun(run: Run): Promise<ToolboxRun>;
  /** Makes an agent's tools ahead of its first run. Returns those that an owner has in a direct conversation. */
  prepare(agent: Run["agent"]): Promise<readonly Tool[]>;
  /** Ends the commands in the background, of one conversation or of all: then none is started any more. */
  endCommands(sessionKey?: string): Promise<void>;
  /** Ends those that were started for such speakers. */
  endCommandsOf(isOf: (speaker: string) => boolean): Promise<void>;
  /** Commands that go on in the background. */
  commands(): readonly BackgroundProcess[];
}

/**
 * The tools of every agent. Each call, of the model or of a command, is shown to the host's hooks (`beforeCall`), then
 * judged by the agent's one runner, which reaches a tool's body only with a decision on record.
 */
export function createToolbox<Run extends ToolRun>(options: ToolboxOptions<Run>): Toolbox<Run> {
  return new AgentsToolbox(options);
}

/** A run with what its tools may give out, and the names of those. */
type Active<Run extends ToolRun> = Run & {
  readonly mayAttach: MayAttach;
  readonly offered: readonly string[];
};

class AgentsToolbox<Run extends ToolRun> implements Toolbox<Run> {
  readonly #options: ToolboxOptions<Run>;
  /** The run of each session: there is never more than one. */
  readonly #running = new Map<string, Active<Run>>();
  readonly #links = createGivenLinks();
  readonly #processes: Processes;
  readonly approvals: Questions;
  readonly #runners = new Map<string, { readonly rule: ToolPolicy; readonly runner: Promise<ToolRunner> }>();

  constructor(options: ToolboxOptions<Run>) {
    this.#options = options;
    this.#processes = createProcesses({ now: options.now });
    const { approvals: store, now, expired: onExpired } = options;
    const approvals = createApprovals({ store, now, ...(onExpired === undefined ? {} : { onExpired }) });
    this.approvals = createQuestions(approvals, async (approval) => {
      const run = this.#running.get(approval.sessionKey);
      if (run !== undefined) await options.ask(approval, run);
    });
  }

  async forRun(run: Run): Promise<ToolboxRun> {
    const { agent, sessionKey } = run;
    const runner = await this.#runnerOf(agent);
    const more: MoreTools = (await this.#options.more?.(agent)) ?? { tools: [] };
    const state = stateOf(run, more.taint ?? []);
    const { inForce = async () => ({ policy: agent.tools, role: state.facts.role }) } = run;
    const runTools = runner.forRun(state, {
      canAsk: run.canAsk,
      more: more.tools,
      inForce,
      runId: run.runId,
      phrases: this.#options.phrasesTo?.(run),
    });
    const mayAttach = this.#attachmentsOf(run, state, inForce);
    const active: Active<Run> = { ...run, mayAttach, offered: runTools.tools.map(({ name }) => name) };
    this.#running.set(sessionKey, active);
    const hooked = (tool: string, callId: string, args: unknown) => this.#hooked(run, tool, callId, args);
    return {
      ...gated(runTools, this.approvals, hooked, agent.tools),
      ...inputsOf(state, (text) => this.#links.add(sessionKey, text)),
      mayAttach,
      end: () => {
        if (this.#running.get(sessionKey) === active) this.#running.delete(sessionKey);
      },
    };
  }

  async prepare(agent: Run["agent"]): Promise<readonly Tool[]> {
    const runner = await this.#runnerOf(agent);
    const place = { agentId: agent.id, sessionKey: "", channelKind: "direct" };
    return runner.forRun(createRunState({ ...place, role: "owner", taint: [] })).tools;
  }

  endCommands(sessionKey?: string): Promise<void> {
    return this.#processes.end(sessionKey === undefined ? undefined : { sessionKey });
  }

  endCommandsOf(isOf: (speaker: string) => boolean): Promise<void> {
    return this.#processes.end({ isOf });
  }

  commands(): readonly BackgroundProcess[] {
    return this.#processes.running();
  }

  /** Decides about attachments of a run as about a `read` of them. */
  #attachmentsOf(run: Run, state: RunState, inForce: LooksUpInForce): MayAttach {
    return async (source) => {
      const current = await inForce();
      if (current !== undefined) state.spoke(current.role, state.facts.speaker);
      const policies = current === undefined ? [] : [run.agent.tools, current.policy];
      const { decision, rule, reason } = decideAttachment(policies, state.facts, source);
      this.#options.note(run, `attach ${JSON.stringify(source)}: ${decision} (${rule}). ${reason}`, {
        tool: "attach",
        decision,
        rule,
      });
      return decision === "allow" ? { ok: true } : { ok: false, why: reason };
    };
  }

  async #hooked(run: Run, tool: string, callId: string, args: unknown): Promise<HookVerdict> {
    const { agent, sessionKey } = run;
    const verdict = await this.#options.beforeCall({ agentId: agent.id, sessionKey, tool, callId, args });
    if (verdict.action === "deny")
      this.#options.note(run, `${tool}: deny (hook). ${verdict.reason}`, {
        tool,
        decision: "deny",
        rule: "hook",
        call: callId,
      });
    return verdict;
  }

  async #runnerOf(agent: Run["agent"]): Promise<ToolRunner> {
    const { id, tools: rule } = agent;
    const before = this.#runners.get(id);
    if (before?.rule === rule) return before.runner;
    // A host may give an agent another rule while it runs: what that allows no more is over.
    if (!allowsTool(rule, "exec") || !allowsTool(rule, "process")) await this.#processes.end({ agentId: id });
    const runner = this.#makeRunner(agent);
    this.#runners.set(id, { rule, runner });
    // What failed once, a folder that was away for instance, may be there for the next run.
    runner.catch(() => this.#runners.delete(id));
    return runner;
  }

  async #makeRunner(agent: Run["agent"]): Promise<ToolRunner> {
    const { withoutSecrets, standingRules, now, note } = this.#options;
    return createToolRunner({
      tools: await createBuiltInTools(agent.tools, { ...this.#places(agent), ...this.#services() }),
      ...(withoutSecrets === undefined ? {} : { withoutSecrets }),
      policy: agent.tools,
      approvals: this.approvals,
      standingRules: () => standingRules?.(agent) ?? [],
      now,
      record: ({ sessionKey, decision, rule, reason, tool, callId: call }) => {
        const text = `${tool}: ${decision} (${rule}). ${reason}`;
        note(this.#runOf(sessionKey), text, { tool, decision, rule, call });
      },
    });
  }

  /** What the tools of an agent work on. */
  #places(agent: Run["agent"]) {
    const { folders, memory, sandbox, domains, environment, fitPicture, fetch, webSearch } = this.#options;
    const remembered = memory?.(agent);
    const search = webSearch?.();
    return {
      ...folders(agent),
      ...(remembered === undefined ? {} : { memory: remembered }),
      sandbox,
      domains: domains?.(agent) ?? [],
      environment: async () => (await environment?.(agent)) ?? {},
      processes: this.#processes,
      ...(fitPicture === undefined ? {} : { fitPicture }),
      fetch,
      ...(search === undefined ? {} : { webSearch: search }),
      isGiven: (url: string, { sessionKey }: RunFacts) => this.#links.has(sessionKey, url),
    };
  }

  /** What they ask of the host, each for the run that its call belongs to. */
  #services(): Pick<
    BuiltInToolsOptions,
    "look" | "gateway" | "cron" | "askUser" | "sessions" | "isCurrent" | "send"
  > {
    const { look, gateway, cron, askUser, sessions, isCurrent, send } = this.#options;
    const lookFor = look?.();
    return {
      ...(lookFor && {
        look: async (picture, { sessionKey, signal }) => lookFor(picture, this.#runOf(sessionKey), signal),
      }),
      ...(gateway && { gateway }),
      ...(cron && {
        cron: async (request, { sessionKey, callId }) => cron(request, this.#runOf(sessionKey), { callId }),
      }),
      ...(sessions && {
        sessions: async (request, call) => sessions(request, this.#runOf(call.sessionKey), call),
      }),
      ...(askUser && { askUser: this.#asking(askUser) }),
      isCurrent: (destination, { sessionKey }) => {
        const run = this.#running.get(sessionKey);
        return run !== undefined && (isCurrent?.(destination, run) ?? false);
      },
      send: async (action, { signal, callId, sessionKey }) => {
        const run = this.#running.get(sessionKey);
        if (run !== undefined) return send(action, run, { signal, callId });
        return { ok: false, message: "There is no conversation to act in." };
      },
    };
  }

  #asking(askUser: NonNullable<ToolboxOptions<Run>["askUser"]>): AskUserToolOptions["ask"] {
    return async (question, { sessionKey, callId, signal }) => {
      const outcome = await askUser(question, this.#runOf(sessionKey), { callId, signal });
      // Addresses in it are the person's own words, as those in a message are; in an option they are the model's.
      if (outcome.kind === "answered" && !question.options.includes(outcome.text))
        this.#links.add(sessionKey, outcome.text);
      return outcome;
    };
  }

  #runOf(sessionKey: string): Active<Run> {
    const run = this.#running.get(sessionKey);
    if (run === undefined) throw new Error("The run is over.");
    return run;
  }
}

function stateOf(
  { agent, sessionKey, role, speaker, channelKind, models, parentTools }: ToolRun,
  taint: readonly TaintMark[],
): RunState {
  return createRunState({
    agentId: agent.id,
    sessionKey,
    role,
    speaker,
    channelKind,
    taint,
    ...(models === undefined ? {} : { models }),
    ...(parentTools === undefined ? {} : { parentTools }),
  });
}
