import type { ToolCallBlock } from "../content.ts";
import { reasonOf } from "../errors.ts";
import type { ToolCallInfo } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Tool, ToolResult } from "../tool.ts";
import type { CompiledTool } from "../tools/tool-set.ts";
import { Progress } from "./progress.ts";
import { race, untilStopped } from "./race.ts";
import type { RunSetup } from "./run-setup.ts";
import { texts } from "./texts.ts";
import { failedCall, type SettledCall, soundResult } from "./tool-result.ts";

/** The circumstances of a call. */
export interface CallSetting
  extends Pick<RunSetup, "tools" | "config" | "log" | "signal" | "graceMs" | "resultChars"> {
  /** The model turn that asked for it. */
  readonly message: AssistantMessage;
  /** What a call comes to that the end of the run comes before. */
  readonly stopped: (call: ToolCallBlock) => SettledCall;
}

/** A call whose arguments passed, and what the hooks are told of it. */
interface CheckedCall {
  readonly tool: Tool;
  readonly info: ToolCallInfo;
}

/** A call about which a person is to be asked. */
interface CallInQuestion {
  readonly checked: CheckedCall;
  readonly question: string;
  readonly details?: JsonObject;
}

/** The call with arguments that pass the schema of its tool, or what it comes to without. */
export async function validate(
  call: ToolCallBlock,
  setting: CallSetting,
): Promise<CheckedCall | SettledCall> {
  const { tools, message, log } = setting;
  const compiled = tools.get(call.name);
  if (compiled === undefined) return failedCall("error", texts.unknownTool(call.name, tools.names));
  if (call.args === undefined) return failedCall("error", texts.malformed(call));
  const checked = await checkArgs(compiled, call, call.args, setting);
  if ("outcome" in checked) return checked;
  if ("problems" in checked) return failedCall("error", texts.invalid(call.name, checked.problems));
  const { tool } = compiled;
  return { tool, info: { call, tool, args: checked.args, message, turn: log.turn, signal: setting.signal } };
}

/** A schema's own code may throw, then the arguments did not pass; or take longer than the tool may. */
async function checkArgs(
  { tool, check }: CompiledTool,
  call: ToolCallBlock,
  args: JsonObject,
  { signal, stopped }: CallSetting,
): Promise<{ readonly args: unknown } | { readonly problems: string } | SettledCall> {
  try {
    const { timeoutMs } = tool;
    const checked = await check(args, { signal, timeoutMs });
    if (signal.aborted) return stopped(call);
    return checked ?? failedCall("timeout", texts.timeout(call.name, timeoutMs ?? 0));
  } catch (error) {
    return { problems: `- the arguments: ${reasonOf(error)}` };
  }
}

/** What the host's gate says. What a gate that fails leaves undecided does not run. */
export async function gate(
  checked: CheckedCall,
  setting: CallSetting,
): Promise<CheckedCall | CallInQuestion | SettledCall> {
  const { tools, config, signal, stopped } = setting;
  if (config.beforeToolCall === undefined) return checked;
  const { info } = checked;
  const { call } = info;
  try {
    const decision = await untilStopped(config.beforeToolCall(info), signal);
    if (signal.aborted) return stopped(call);
    switch (decision?.action) {
      case "block":
        return failedCall("blocked", texts.blocked(call.name, decision.reason));
      case "ask":
        return { ...decision, checked };
      case "change": {
        const compiled = tools.get(call.name);
        if (compiled === undefined) return checked;
        // Checked as the model's own were.
        const changed = await checkArgs(compiled, call, decision.args, setting);
        if ("outcome" in changed) return changed;
        if ("problems" in changed) throw new Error(changed.problems);
        return { ...checked, info: { ...info, args: changed.args } };
      }
      default:
        return checked;
    }
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, reasonOf(error)));
  }
}

/** Puts a question of the gate to a person. `waiting`: nobody has decided yet. */
export async function askPerson(
  { checked, question, details }: CallInQuestion,
  { config, signal, stopped }: CallSetting,
): Promise<CheckedCall | SettledCall | "waiting"> {
  const { info } = checked;
  const { call } = info;
  if (config.onAsk === undefined) return "waiting";
  try {
    const asked = { ...info, question, ...(details === undefined ? {} : { details }) };
    const answer = await untilStopped(config.onAsk(asked), signal);
    if (signal.aborted || answer === undefined) return stopped(call);
    if (answer.action === "wait") return "waiting";
    if (answer.action === "allow") return checked;
    return failedCall("blocked", texts.denied(call.name, answer.reason));
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, reasonOf(error)));
  }
}

/**
 * Runs a tool's body. Resolves whatever the body does: throws, hangs after an abort or its time-out, gives nothing.
 * After either the body has a moment to give a result of its own. Only a viewer of the progress that threw is thrown.
 */
export async function execute({ tool, info }: CheckedCall, setting: CallSetting): Promise<SettledCall> {
  const { id, name } = info.call;
  const { graceMs, resultChars, log, signal } = setting;
  const own = new AbortController();
  const progress = new Progress((partial) => log.emit({ type: "tool.update", callId: id, partial }));
  const update = (partial: ToolResult): void => progress.report(partial);
  const context = { signal: own.signal, resultChars, update };
  const body = async (): Promise<ToolResult | { readonly threw: string }> => {
    try {
      return soundResult(await tool.execute({ id, name, args: info.args }, context), name);
    } catch (error) {
      return { threw: reasonOf(error) };
    }
  };
  const { timeoutMs } = tool;
  const late = texts.timeout(name, timeoutMs ?? 0);
  const ended = await race(body(), {
    signal,
    timeoutMs,
    graceMs,
    onEnding: (why) => own.abort(why === "timeout" ? new Error(late) : signal.reason),
  });
  await progress.end();
  const { ending } = ended;
  const given = ended.done ? ended.value : { threw: "" };
  if (!("threw" in given)) {
    if (ending !== undefined) return { result: given, outcome: ending === "stopped" ? "aborted" : ending };
    return { result: given, outcome: given.isError === true ? "error" : "ok" };
  }
  // What an aborted body throws says less than why it was aborted.
  if (ending === "stopped") return failedCall("aborted", texts.abortedDuring(name));
  if (ending === "timeout") return failedCall("timeout", late);
  return failedCall("error", given.threw);
}

/**
 * Lets the host see, and replace, what a tool gave. Should the run have to stop first, what the hook
 * might have replaced is not shown as it was.
 */
export async function afterwards(
  { info }: CheckedCall,
  settled: SettledCall,
  { config, signal, graceMs }: CallSetting,
): Promise<SettledCall> {
  const { afterToolCall } = config;
  if (afterToolCall === undefined) return settled;
  const { name } = info.call;
  try {
    const hook = async () => afterToolCall({ ...info, result: settled.result });
    const given = await race(hook(), { signal, graceMs });
    if (!given.done) return failedCall("aborted", texts.abortedDuring(name));
    if (given.value === undefined) return settled;
    const result = soundResult(given.value, name);
    return {
      result,
      outcome: settled.outcome === "ok" && result.isError === true ? "error" : settled.outcome,
    };
  } catch (error) {
    return failedCall("error", reasonOf(error));
  }
}
