import { createApprovals } from "../approvals.ts";
import { decideAttachment } from "../attachments.ts";
import { type BackgroundProcess, createProcesses } from "../background/processes.ts";
import { createBuiltInTools } from "../built-in.ts";
import type { CronToolOptions } from "../cron.ts";
import { createGivenLinks } from "../given-links.ts";
import type { ImageToolOptions } from "../image.ts";
import type { AskUserToolOptions } from "../inquiries/ask-user.ts";
import { allowsTool, type ToolPolicy } from "../policy.ts";
import { createQuestions, type Questions } from "../questions.ts";
import { createRunState } from "../run-state.ts";
import { createToolRunner, type ToolRunner } from "../runner.ts";
import type { SessionsToolsOptions } from "../sessions.ts";
import type { HookVerdict, MayAttach, MoreTools, ToolboxOptions, ToolRun } from "./options.ts";
import { gated, inputsOf, type ToolboxRun } from "./run.ts";

export interface Toolbox<Run extends ToolRun> {
  /** The questions of all agents' tools. Close it when the host stops. */
  readonly approvals: Questions;
  forRun(run: Run): Promise<ToolboxRun>;
  /** Makes an agent's tools ahead of its first run. */
  prepare(agent: Run["agent"]): Promise<void>;
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
  type Active = Run & { readonly mayAttach: MayAttach; readonly offered: readonly string[] };
  /** The run of each session: there is never more than one. */
  const running = new Map<string, Active>();
  const links = createGivenLinks();
  const processes = createProcesses({ now: options.now });
  const { approvals: store, now } = options;
  const approvals = createQuestions(createApprovals({ store, now }), async (approval) => {
    const run = running.get(approval.sessionKey);
    if (run !== undefined) await options.ask(approval, run);
  });

  const runOf = (sessionKey: string): Active => {
    const run = running.get(sessionKey);
    if (run === undefined) throw new Error("The run is over.");
    return run;
  };

  const { cron, askUser, sessions } = options;
  const carryOut: CronToolOptions["carryOut"] | undefined =
    cron && (async (request, { sessionKey, callId }) => cron(request, runOf(sessionKey), { callId }));
  const delegate: SessionsToolsOptions["carryOut"] | undefined =
    sessions && (async (request, call) => sessions(request, runOf(call.sessionKey), call));
  const ask: AskUserToolOptions["ask"] | undefined =
    askUser &&
    (async (question, { sessionKey, callId, signal }) => {
      const end = await askUser(question, runOf(sessionKey), { callId, signal });
      // Addresses in it are the person's own words, as those in a message are; in an option they are the model's.
      if (end.kind === "answered" && !question.options.includes(end.text)) links.add(sessionKey, end.text);
      return end;
    });

  const makeRunner = async (agent: Run["agent"]): Promise<ToolRunner> => {
    const memory = options.memory?.(agent);
    const webSearch = options.webSearch?.();
    const lookFor = options.look?.();
    const look: ImageToolOptions["look"] | undefined =
      lookFor && (async (picture, { sessionKey, signal }) => lookFor(picture, runOf(sessionKey), signal));
    return createToolRunner({
      tools: await createBuiltInTools(agent.tools, {
        ...options.folders(agent),
        ...(memory === undefined ? {} : { memory }),
        sandbox: options.sandbox,
        domains: options.domains?.(agent) ?? [],
        environment: async () => (await options.environment?.(agent)) ?? {},
        processes,
        ...(options.fitPicture === undefined ? {} : { fitPicture: options.fitPicture }),
        fetch: options.fetch,
        ...(webSearch === undefined ? {} : { webSearch }),
        ...(look === undefined ? {} : { look }),
        ...(options.gateway === undefined ? {} : { gateway: options.gateway }),
        ...(carryOut === undefined ? {} : { cron: carryOut }),
        ...(ask === undefined ? {} : { askUser: ask }),
        ...(delegate === undefined ? {} : { sessions: delegate }),
        isCurrent(destination, facts) {
          const run = running.get(facts.sessionKey);
          return run !== undefined && (options.isCurrent?.(destination, run) ?? false);
        },
        isGiven: (url, facts) => links.has(facts.sessionKey, url),
        send(action, { signal, callId, sessionKey }) {
          const run = running.get(sessionKey);
          if (run !== undefined) return options.send(action, run, { signal, callId });
          return Promise.resolve({ ok: false, message: "There is no conversation to act in." });
        },
      }),
      ...(options.withoutSecrets === undefined ? {} : { withoutSecrets: options.withoutSecrets }),
      policy: agent.tools,
      approvals,
      standingRules: () => options.standingRules?.(agent) ?? [],
      now: options.now,
      record({ sessionKey, decision, rule, reason, tool, callId }) {
        options.note(runOf(sessionKey), `${tool}: ${decision} (${rule}). ${reason}`, {
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
    endCommandsOf: (isOf) => processes.end({ isOf }),
    commands: processes.running,
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
      const { inForce = async () => ({ policy: agent.tools, role: state.facts.role }) } = run;
      const runTools = runner.forRun(state, { canAsk, more: more.tools, inForce, runId: run.runId });
      const mayAttach: MayAttach = async (source) => {
        const current = await inForce();
        if (current !== undefined) state.spoke(current.role, state.facts.speaker);
        const policies = current === undefined ? [] : [agent.tools, current.policy];
        const { decision, rule, reason } = decideAttachment(policies, state.facts, source);
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
