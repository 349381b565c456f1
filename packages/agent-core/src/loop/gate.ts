import type { ToolCallBlock } from "../content.ts";
import { errorText } from "../errors.ts";
import type { ToolCallInfo, ToolDecision } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { Checked, CompiledTool } from "../schema/compile.ts";
import type { CallHost } from "./call-host.ts";
import { aborted, blocked, type Invoked } from "./invoke.ts";
import { failed } from "./result.ts";
import type { RunSignal } from "./run-signal.ts";
import { texts } from "./texts.ts";

/**
 * Arguments as the schema has them. A schema's own code may throw, then they did not pass; or take its time, then the
 * answer is `undefined` as soon as the run has to stop or the tool's time is over.
 */
export function checkArgs(
  { stop }: CallHost,
  { schema, tool }: CompiledTool,
  args: JsonObject,
): Checked | undefined | Promise<Checked | undefined> {
  try {
    const checked = schema.check(args);
    return checked instanceof Promise ? stop.orStopped(checked.catch(threw), 0, tool.timeoutMs) : checked;
  } catch (error) {
    return threw(error);
  }
}

function threw(error: unknown): Checked {
  return { ok: false, problems: `- the arguments: ${errorText(error)}` };
}

/** What a call comes to whose check was not waited for. */
export function unchecked({ stop }: CallHost, call: ToolCallBlock, { tool }: CompiledTool): Invoked {
  if (stop.cause !== undefined) return aborted(call);
  return { result: failed(texts.timeout(call.name, tool.timeoutMs ?? 0)), outcome: "timeout" };
}

/** Asks the gate, and a person where it says so. What a gate that fails leaves undecided does not run. */
export async function askGate(
  { config, stop, emit }: CallHost,
  info: ToolCallInfo,
): Promise<Invoked | "allow" | "waiting" | Extract<ToolDecision, { action: "change" }>> {
  const { call } = info;
  try {
    const decision = await orStopped(stop, config.beforeToolCall?.(info));
    if (stop.cause !== undefined) return aborted(call);
    if (decision === undefined || decision.action === "allow") return "allow";
    if (decision.action === "change") return decision;
    if (decision.action === "block") return blocked(texts.blocked(call.name, decision.reason));
    const { question, details } = decision;
    await emit({ type: "tool.ask", call, question });
    if (config.onAsk === undefined) return "waiting";
    const answer = await orStopped(
      stop,
      config.onAsk({ ...info, question, ...(details === undefined ? {} : { details }) }),
    );
    if (stop.cause !== undefined || answer === undefined) return aborted(call);
    if (answer.action === "wait") return "waiting";
    return answer.action === "allow" ? "allow" : blocked(texts.denied(call.name, answer.reason));
  } catch (error) {
    return blocked(texts.gateFailed(call.name, errorText(error)));
  }
}

function orStopped<T>(stop: RunSignal, value: T | Promise<T>): T | undefined | Promise<T | undefined> {
  return value instanceof Promise ? stop.orStopped(value) : value;
}
