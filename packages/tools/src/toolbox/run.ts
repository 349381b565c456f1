import type { BeforeToolCall, OnAsk, Tool, ToolEffects, ToolResult } from "@signalbox/agent-core";
import type { Approval } from "../approval-store.ts";
import { BUILT_IN_TOOLS } from "../built-in.ts";
import type { ToolRule } from "../policy.ts";
import type { Questions } from "../questions.ts";
import { failure } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { DirectCallOptions, RunTools } from "../runner.ts";
import type { Role, TaintSource } from "../types.ts";
import type { HookVerdict, MayAttach } from "./options.ts";

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
   * For calls that the model did not ask for: they go through the same gate. If a question comes up, it waits. If the
   * toolbox is closed meanwhile, this throws the reason, and nothing was done.
   */
  readonly call: (name: string, args: unknown, how: CommandCallOptions) => Promise<ToolResult>;
  /** A message is part of the run: its speaker may lower what the run may do, what it quotes taints it. */
  heard(message: HeardMessage, role: Role, speaker: string): void;
  /** Addresses in this text were not thought of by the model. */
  given(text: string): void;
  /** Untrusted content came in otherwise. */
  tainted(source: TaintSource): void;
  /** What has tainted the run so far. */
  readonly taint: () => readonly TaintSource[];
  /** The weakest role that has spoken in it so far. */
  readonly role: () => Role;
  /** The run is over: its tools reach its conversation no more. */
  end(): void;
}

/** A message of the run, with what affects the run's rights. */
export interface HeardMessage {
  readonly text: string;
  /** Present if someone else's words were passed on. */
  readonly forwarded?: object;
  readonly replyTo?: { readonly messageId: string; readonly text?: string };
  /** Attachments, its own or those of the message that it replies to. */
  readonly media?: readonly object[];
}

/**
 * The way of a call: the host's hooks, then the decision (`judge.ts`), then perhaps a question, and only then the
 * tool's body (`runner.ts`), which takes nothing but the permit that came of a recorded decision.
 */
export function gated(
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
      return failure(answer === "denied" ? "The approval was denied." : "Nobody approved it in time.");
    },
  };
}

/** What comes into a run, and what it does to the run's facts. */
export function inputsOf(
  state: RunState,
  given: (text: string) => void,
): Pick<ToolboxRun, "heard" | "given" | "tainted" | "taint" | "role"> {
  return {
    given,
    heard({ text, forwarded, replyTo, media = [] }, role, speaker) {
      state.spoke(role, speaker);
      given(`${text}\n${replyTo?.text ?? ""}`);
      if (forwarded !== undefined) state.taint({ source: "forward" });
      // What comes with a reply may be what it replies to.
      if (replyTo !== undefined && (replyTo.text !== undefined || media.length > 0))
        state.taint({ source: "quote", detail: replyTo.messageId });
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
