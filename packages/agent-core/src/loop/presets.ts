import type { ToolCallBlock } from "../content.ts";
import type { OnPendingCall } from "../hooks.ts";
import type { Tool } from "../tool.ts";
import type { CallHost } from "./call-host.ts";
import type { Preset } from "./calls.ts";
import { failed, soundResult } from "./result.ts";
import type { RunSignal } from "./run-signal.ts";
import { texts } from "./texts.ts";

/** What becomes of each call that an earlier run left open. */
export async function presetsFor(
  calls: readonly ToolCallBlock[],
  newInput: boolean,
  { config, tools, stop }: Pick<CallHost, "config" | "tools" | "stop">,
): Promise<readonly Preset[]> {
  const presets: Preset[] = [];
  for (const call of calls) {
    const tool = tools.byName.get(call.name)?.tool;
    presets.push(await presetFor(call, tool, newInput, config.onPendingCall, stop));
  }
  return presets;
}

/**
 * What becomes of a call that an earlier run left open: what the host says, else it runs again when that does no harm
 * and nothing new was said, else the model is told that it may have taken effect.
 */
async function presetFor(
  call: ToolCallBlock,
  tool: Tool | undefined,
  newInput: boolean,
  ask: OnPendingCall | undefined,
  stop: RunSignal,
): Promise<Preset> {
  const given = ask?.({ call, tool, newInput });
  const decision = given instanceof Promise ? await stop.orStopped(given) : given;
  switch (decision?.action) {
    case "run":
      return undefined;
    case "wait":
      return "wait";
    case "result": {
      const result = soundResult(decision.result, call.name);
      return { result, outcome: result.isError === true ? "error" : "ok" };
    }
    // What a host written without types says in other words decides nothing.
    default: {
      const harmless = tool !== undefined && tool.effects !== "external";
      if (harmless && !newInput) return undefined;
      const text = harmless ? texts.interruptedHarmless : texts.interrupted;
      return { result: failed(text), outcome: "skipped" };
    }
  }
}
