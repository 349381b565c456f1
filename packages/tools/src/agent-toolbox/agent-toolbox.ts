import { type Approvals, createApprovals } from "../approvals.ts";
import { decideAttachment } from "../attachments.ts";
import { type BackgroundProcess, createProcesses, type Processes } from "../background/processes.ts";
import { type BuiltInToolsOptions, createBuiltInTools } from "../built-in.ts";
import { isVisible } from "../files/places.ts";
import { allowsTool, type GetCurrentRights, type ToolPolicy } from "../policy.ts";
import { createRunState, type RunState } from "../run-state.ts";
import { createToolRunner, type ToolRunner } from "../runner.ts";
import type { RunFacts, TaintMark } from "../types.ts";
import type { AskUserToolOptions } from "../user-questions/ask-user.ts";
import { createSessionLinks } from "../web/session-links.ts";
import type {
  AgentToolboxOptions,
  HookVerdict,
  MayAttach,
  MoreTools,
  ToolRun,
} from "./agent-toolbox-options.ts";
import { type AgentToolboxRun, createRunInputs, withHooks } from "./agent-toolbox-run.ts";

/** The tools of all agents on a host. */
export interface AgentToolbox<Run extends ToolRun> {
  /** The approval requests of all agents. Close this when the host stops. */
  readonly approvals: Approvals;
  /** Creates the tools of one run. A session has at most one run at a time. */
  forRun(run: Run): Promise<AgentToolboxRun>;
  /**
   * Ends the background commands of one conversation. Without a conversation, ends all background commands and rejects
   * new ones.
   */
  endCommands(sessionKey?: string): Promise<void>;
  /** Ends the background commands that were started on behalf of matching speakers. */
  endCommandsStartedBy(matches: (speaker: string) => boolean): Promise<void>;
  /** Returns the commands that are running in the background. */
  commands(): readonly BackgroundProcess[];
}

/**
 * Creates the tools of all agents on a host. Each call by a model or a command first runs the host's hooks
 * (`beforeCall`). It is then checked against the policy and recorded, waits for approval if it needs one, and only then
 * runs.
 */
export function createAgentToolbox<Run extends ToolRun>(
  options: AgentToolboxOptions<Run>,
): AgentToolbox<Run> {
  return new DefaultAgentToolbox(options);
}

/** A run with the names of its tools and the attachments that it may send. */
type ActiveRun<Run extends ToolRun> = Run & {
  readonly mayAttach: MayAttach;
  readonly isVisible: AgentToolboxRun["isVisible"];
  readonly offered: readonly string[];
};

class DefaultAgentToolbox<Run extends ToolRun> implements AgentToolbox<Run> {
  readonly approvals: Approvals;
  readonly #options: AgentToolboxOptions<Run>;
  /** The active run of each session. */
  readonly #running = new Map<string, ActiveRun<Run>>();
  readonly #links = createSessionLinks({ maxSessions: 500, maxLinks: 500 });
  readonly #processes: Processes;
  /** The runner of each agent and the policy for which it was created. */
  readonly #runners = new Map<
    string,
    { readonly policy: ToolPolicy; readonly runner: Promise<ToolRunner> }
  >();

  constructor(options: AgentToolboxOptions<Run>) {
    const { approvals: store, now, onDecided, onExpired, allowRules } = options;
    this.#options = options;
    this.#processes = createProcesses({ now });
    this.approvals = createApprovals({
      store,
      now,
      onDecided,
      onExpired,
      allowRules,
      prompt: async (approval) => {
        const run = this.#running.get(approval.sessionKey);
        if (run !== undefined) await options.prompt(approval, run);
      },
    });
  }

  async forRun(run: Run): Promise<AgentToolboxRun> {
    const { agent, sessionKey } = run;
    const runner = await this.#getRunner(agent);
    const more: MoreTools = (await this.#options.more?.(agent)) ?? { tools: [] };
    const state = createState(run, more.taint ?? []);
    const { getCurrentRights = async () => ({ policy: agent.tools, role: state.facts.role }) } = run;
    const runTools = runner.forRun(state, {
      canAsk: run.canAsk,
      more: more.tools,
      getCurrentRights,
      runId: run.runId,
      phrases: this.#options.getPhrases?.(run),
      requester: this.#options.getRequester?.(run),
    });
    const mayAttach = this.#createMayAttach(run, state, getCurrentRights);
    const visible = (path: string): boolean => isVisible(path, state.facts);
    const active: ActiveRun<Run> = {
      ...run,
      mayAttach,
      isVisible: visible,
      offered: runTools.tools.map(({ name }) => name),
    };
    this.#running.set(sessionKey, active);
    const callHooks = (tool: string, callId: string, args: unknown) =>
      this.#callHooks(run, tool, callId, args);
    return {
      ...withHooks(runTools, this.approvals, callHooks, agent.tools),
      ...createRunInputs(state, (text) => this.#links.add(sessionKey, text)),
      mayAttach,
      isVisible: visible,
      end: () => {
        if (this.#running.get(sessionKey) === active) this.#running.delete(sessionKey);
      },
    };
  }

  endCommands(sessionKey?: string): Promise<void> {
    return this.#processes.end(sessionKey === undefined ? undefined : { sessionKey });
  }

  endCommandsStartedBy(matches: (speaker: string) => boolean): Promise<void> {
    return this.#processes.end({ matches });
  }

  commands(): readonly BackgroundProcess[] {
    return this.#processes.running();
  }

  #createMayAttach(run: Run, state: RunState, getCurrentRights: GetCurrentRights): MayAttach {
    return async (source) => {
      const current = await getCurrentRights();
      if (current !== undefined) state.addSpeaker(current.role, state.facts.speaker);
      const policies = current === undefined ? [] : [run.agent.tools, current.policy];
      const { decision, rule, reason } = decideAttachment(policies, state.facts, source);
      this.#options.record(run, `attach ${JSON.stringify(source)}: ${decision} (${rule}). ${reason}`, {
        tool: "attach",
        decision,
        rule,
      });
      return decision === "allow" ? { ok: true } : { ok: false, why: reason };
    };
  }

  async #callHooks(run: Run, tool: string, callId: string, args: unknown): Promise<HookVerdict> {
    const { agent, sessionKey } = run;
    const verdict = await this.#options.beforeCall({ agentId: agent.id, sessionKey, tool, callId, args });
    if (verdict.action === "deny")
      this.#options.record(run, `${tool}: deny (hook). ${verdict.reason}`, {
        tool,
        decision: "deny",
        rule: "hook",
        call: callId,
      });
    return verdict;
  }

  async #getRunner(agent: Run["agent"]): Promise<ToolRunner> {
    const { id, tools: policy } = agent;
    const existing = this.#runners.get(id);
    if (existing?.policy === policy) return existing.runner;
    // An agent's policy may change while its commands are running.
    if (!allowsTool(policy, "exec") || !allowsTool(policy, "process"))
      await this.#processes.end({ agentId: id });
    const runner = this.#createRunner(agent);
    this.#runners.set(id, { policy, runner });
    // Retry in the next run, for example after a missing folder was mounted.
    runner.catch(() => this.#runners.delete(id));
    return runner;
  }

  async #createRunner(agent: Run["agent"]): Promise<ToolRunner> {
    const { cleanText, allowRules, now, record } = this.#options;
    return createToolRunner({
      tools: await createBuiltInTools(agent.tools, { ...this.#resources(agent), ...this.#handlers() }),
      cleanText,
      policy: agent.tools,
      approvals: this.approvals,
      allowRules: () => allowRules?.get(agent.id) ?? [],
      now,
      record: ({ sessionKey, decision, rule, reason, tool, callId: call }) => {
        const text = `${tool}: ${decision} (${rule}). ${reason}`;
        record(this.#getRun(sessionKey), text, { tool, decision, rule, call });
      },
    });
  }

  /** Returns the resources that an agent's tools use. */
  #resources(agent: Run["agent"]) {
    const { folders, memory, sandbox, domains, environment, fitImage, fetch, webSearch, browser } =
      this.#options;
    return {
      ...folders(agent),
      memory: memory?.(agent),
      sandbox,
      domains: domains?.(agent) ?? [],
      environment: async () => (await environment?.(agent)) ?? {},
      processes: this.#processes,
      fitImage,
      fetch,
      webSearch: webSearch?.(),
      browser: browser?.(agent),
      isKnownLink: (url: string, { sessionKey }: RunFacts) => this.#links.has(sessionKey, url),
    };
  }

  /** Returns the host's functions, bound to the run of each call. */
  #handlers(): Pick<
    BuiltInToolsOptions,
    "describeImage" | "generateImage" | "gateway" | "cron" | "askUser" | "sessions" | "isCurrent" | "send"
  > {
    const { gateway, cron, askUser, sessions, isCurrent, send } = this.#options;
    const describeImage = this.#options.describeImage?.();
    const generateImage = this.#options.generateImage?.();
    return {
      describeImage:
        describeImage &&
        (async (image, { sessionKey, signal }) => describeImage(image, this.#getRun(sessionKey), signal)),
      generateImage:
        generateImage &&
        (async (request, { sessionKey, signal }) => generateImage(request, this.#getRun(sessionKey), signal)),
      gateway,
      cron:
        cron &&
        (async (request, { sessionKey, callId }) => cron(request, this.#getRun(sessionKey), { callId })),
      sessions: sessions && (async (request, call) => sessions(request, this.#getRun(call.sessionKey), call)),
      askUser: askUser && this.#createAsk(askUser),
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

  #createAsk(askUser: NonNullable<AgentToolboxOptions<Run>["askUser"]>): AskUserToolOptions["ask"] {
    return async (request, { sessionKey, callId, signal }) => {
      const outcome = await askUser(request, this.#getRun(sessionKey), { callId, signal });
      // URLs in a person's own words are known, like those in a message. Options are written by the model.
      if (outcome.kind === "answered" && !request.options.includes(outcome.text))
        this.#links.add(sessionKey, outcome.text);
      return outcome;
    };
  }

  #getRun(sessionKey: string): ActiveRun<Run> {
    const run = this.#running.get(sessionKey);
    if (run === undefined) throw new Error("The run has ended.");
    return run;
  }
}

function createState(
  { agent, sessionKey, role, speaker, channelKind, groups, models, parentTools }: ToolRun,
  taint: readonly TaintMark[],
): RunState {
  return createRunState({
    agentId: agent.id,
    sessionKey,
    role,
    speaker,
    channelKind,
    groups,
    taint,
    models,
    parentTools,
  });
}
