import type { BeforeToolCall, OnAsk, Tool, ToolEffects, ToolResult } from "@signalbox/agent-core";
import type { Approval } from "../approval-store.ts";
import type { Approvals } from "../approvals.ts";
import { BUILT_IN_TOOLS } from "../built-in.ts";
import type { ToolRule } from "../policy.ts";
import { failure } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { DirectCallOptions, RunTools } from "../runner.ts";
import type { Role, TaintSource } from "../types.ts";
import type { HookVerdict, MayAttach } from "./agent-toolbox-options.ts";

/** Options for a call that a command makes instead of the model. */
interface CommandCallOptions extends Omit<DirectCallOptions, "onRequested"> {
  /** Wraps the wait for a person's decision. */
  readonly asking: <T>(ask: () => Promise<T>) => Promise<T>;
}

/** The tools of one run. */
export interface AgentToolboxRun extends Pick<RunTools, "tools"> {
  readonly mayAttach: MayAttach;
  /** Returns true if the run may know about a path in the workspace, given as the workspace displays it. */
  readonly isVisible: (path: string) => boolean;
  readonly effects: (name: string) => ToolEffects;
  /** For the agent loop. Decides about each call that the model makes. */
  readonly beforeToolCall: BeforeToolCall;
  readonly onAsk: OnAsk;
  /**
   * Makes a call that the model did not request. The same policy applies as to any other call, and the call waits for
   * approval if it needs one. Rejects without running the tool if approvals are closed in the meantime.
   */
  readonly call: (name: string, args: unknown, how: CommandCallOptions) => Promise<ToolResult>;
  /** Adds a message to the run. Its speaker may lower the run's rights, and quoted content taints the run. */
  addMessage(message: RunMessage, role: Role, speaker: string): void;
  /** Marks the URLs in a string as known, which means that the model did not invent them. */
  addLinks(text: string): void;
  /** Taints the run. */
  addTaint(source: TaintSource): void;
  /** Returns the taint sources so far. */
  readonly taint: () => readonly TaintSource[];
  /** Returns the weakest role of all speakers in the run so far. */
  readonly role: () => Role;
  /** Ends the run. Its tools can no longer act in its conversation. */
  end(): void;
}

/** A message that another message replies to, forwards or follows in a thread. */
interface ReferencedMessage {
  readonly kind: "reply" | "thread" | "forward";
  readonly messageId?: string | undefined;
  /** Absent if only the id of the message is available. */
  readonly text?: string | undefined;
  readonly media?: readonly object[] | undefined;
}

/** The fields of a message that affect a run's rights. */
interface RunMessage {
  readonly text: string;
  /** Present if the message forwards someone else's words. */
  readonly forwarded?: object;
  /** Other messages that this message refers to. */
  readonly references?: readonly ReferencedMessage[] | undefined;
}

/**
 * Adds the host's hooks and the wait for approvals to a run's tools. The steps of a call are: hooks, decision (`call-
 * decision.ts`), approval, body (`runner.ts`).
 */
export function withHooks(
  runTools: RunTools,
  approvals: Approvals,
  callHooks: (tool: string, callId: string, args: unknown) => Promise<HookVerdict>,
  rule: ToolRule,
): Pick<AgentToolboxRun, "tools" | "effects" | "beforeToolCall" | "onAsk" | "call"> {
  const { beforeToolCall, onAsk, call } = runTools;
  const tools = sortTools(runTools.tools, rule);
  return {
    tools,
    effects: (name) => tools.find((tool) => tool.name === name)?.effects ?? "external",
    async beforeToolCall(info) {
      const verdict = await callHooks(info.tool.name, info.call.id, info.args);
      if (verdict.action === "deny") return { action: "block", reason: `Not allowed. ${verdict.reason}` };
      if (verdict.args !== undefined) return { action: "change", args: verdict.args };
      return beforeToolCall(info);
    },
    // A shutdown does not wait for people. The call stays pending and is repeated after the next start.
    onAsk: (info) =>
      Promise.race([
        Promise.resolve(onAsk(info)),
        approvals.closed.catch(() => ({ action: "wait" }) as const),
      ]),
    async call(name, args, how) {
      const verdict = await callHooks(name, how.callId, args);
      if (verdict.action === "deny") return failure(`Not allowed. ${verdict.reason}`);
      const finalArgs = verdict.args ?? args;
      const requested: Approval[] = [];
      const result = await call(name, finalArgs, {
        ...how,
        onRequested: (approval) => requested.push(approval),
      });
      const [approval] = requested;
      if (approval === undefined) return result;
      const decision = await how.asking(() =>
        Promise.race([approvals.wait(approval.id, how.signal), approvals.closed]),
      );
      if (decision === "allowed") return call(name, finalArgs, how);
      return failure(decision === "denied" ? "The approval was denied." : "Nobody approved it in time.");
    },
  };
}

/** Creates the methods that add input to a run. */
export function createRunInputs(
  state: RunState,
  addLinks: (text: string) => void,
): Pick<AgentToolboxRun, "addMessage" | "addLinks" | "addTaint" | "taint" | "role"> {
  return {
    addLinks,
    addMessage({ text, forwarded, references = [] }, role, speaker) {
      state.addSpeaker(role, speaker);
      addLinks([text, ...references.map((reference) => reference.text ?? "")].join("\n"));
      if (forwarded !== undefined) state.taint({ source: "forward" });
      for (const { kind, messageId, text: quoted = "", media = [] } of references) {
        if (quoted === "" && media.length === 0) continue;
        state.taint({ source: kind === "forward" ? "forward" : "quote", detail: messageId });
      }
    },
    addTaint: (source) => state.taint({ source }),
    role: () => state.facts.role,
    taint: () => [...new Set(state.facts.taint.map(({ source }) => source))],
  };
}

/**
 * Sorts tools: first those in the agent's own list, in its order, then built-in tools in their default order, then all
 * others.
 */
function sortTools(tools: readonly Tool[], { allow = [] }: ToolRule): Tool[] {
  const position = (name: string): number => {
    const [listed, builtIn] = [allow.indexOf(name), BUILT_IN_TOOLS.indexOf(name)];
    if (listed >= 0) return listed;
    return allow.length + (builtIn >= 0 ? builtIn : BUILT_IN_TOOLS.length);
  };
  return tools.toSorted((a, b) => position(a.name) - position(b.name));
}
