import type { BeforeToolCall, OnAsk, Tool, ToolEffects } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { Config, LoadedConfig, Problem } from "@signalbox/config";
import type { RunId } from "@signalbox/store";
import type { Agent, Agents } from "./agents.ts";
import type { Role } from "./path/gate.ts";

/** What a run's tools depend on. */
export interface ToolRun {
  readonly agent: Agent;
  /** The message being answered. */
  readonly event: MessageEvent;
  readonly role: Role;
  readonly sessionKey: string;
  readonly runId: RunId;
  /** Told a text that the message tool has sent to this very conversation. */
  readonly onSent: (text: string) => void;
}

/** The tools of one run. */
export interface RunTools {
  /** Those the agent may use, in the order of its configuration. */
  readonly tools: readonly Tool[];
  readonly effects: (name: string) => ToolEffects;
  /** The gate no call gets around. */
  readonly beforeToolCall: BeforeToolCall;
  readonly onAsk: OnAsk;
}

export interface Toolbox {
  forRun(run: ToolRun): RunTools;
}
export function toolProblems(_l: LoadedConfig, _a: Agents): Problem[] {
  return [];
}
export async function createToolbox(_: object): Promise<Toolbox> {
  return {
    forRun: () => ({
      tools: [],
      effects: () => "none",
      beforeToolCall: () => undefined,
      onAsk: () => ({ action: "wait" }),
    }),
  };
}
export async function describeExec(_c: Config, _a: Agents): Promise<string> {
  return "";
}
