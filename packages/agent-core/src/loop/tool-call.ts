import type { AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { errorText, isAgentError } from "../errors.ts";
import type { ToolOutcome } from "../events.ts";
import type { AfterToolCall, ToolCallInfo, ToolDecision } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { ToolResult } from "../tool.ts";
import type { CompiledTool, ToolSet } from "../tools/tool-set.ts";
import { Progress } from "./progress.ts";
import { race } from "./race.ts";
import { texts } from "./texts.ts";
import { failedCall, type SettledCall, soundResult } from "./tool-result.ts";

/** The circumstances of a call. */
export interface CallSetting {
  readonly tools: ToolSet;
  readonly hooks: Pick<AgentLoopConfig, "beforeToolCall" | "onAsk" | "afterToolCall">;
  /** The model turn that asked for it. */
  readonly message: AssistantMessage;
  readonly turn: number;
  /** Ends the call, `graceMs` milliseconds after which a body that goes on is left behind. */
  readonly signal: AbortSignal;
  readonly graceMs: number;
  /** Characters a result may have. */
  readonly resultChars: number;
  readonly onProgress: (partial: ToolResult) => void | Promise<void>;
}

/** A call whose arguments passed, and what the hooks are told of it. */
interface CheckedCall {
  readonly tool: CompiledTool["tool"];
  readonly info: ToolCallInfo;
}

/** A call about which a person is to be asked. */
interface CallInQuestion {
  readonly checked: CheckedCall;
  readonly question: string;
  readonly details?: JsonObject;
}

/**
 * Whether a call may run: it has to pass the schema of its tool, and the gate, which may want a person asked. What a
 * schema or a gate does wrong is the call's result.
 */
export async function prepare(
  call: ToolCallBlock,
  setting: CallSetting,
): Promise<CheckedCall | CallInQuestion | SettledCall> {
  try {
    const checked = await validate(call, setting);
    return "outcome" in checked ? checked : await gate(checked, setting);
  } catch (error) {
    return failedCall("error", errorText(error));
  }
}

/** The result of a call that the run's end came before. */
export function abortedCall(call: ToolCallBlock): SettledCall {
  return failedCall("aborted", texts.abortedBefore(call.name));
}

async function validate(call: ToolCallBlock, setting: CallSetting): Promise<CheckedCall | SettledCall> {
  const { tools, message, turn, signal } = setting;
  const compiled = tools.get(call.name);
  if (compiled === undefined) return failedCall("error", texts.unknownTool(call.name, tools.names));
  if (call.args === undefined) return failedCall("error", texts.malformed(call));
  const checked = await checkArgs(call, compiled, call.args, setting);
  if ("outcome" in checked) return checked;
  if ("problems" in checked) return failedCall("error", texts.invalid(call.name, checked.problems));
  const { tool } = compiled;
  return { tool, info: { call, tool, args: checked.args, message, turn, signal } };
}

/** A schema's own code may throw, then the arguments did not pass; or take its time, which ends with the tool's. */
async function checkArgs(
  call: ToolCallBlock,
  { tool, check }: CompiledTool,
  args: JsonObject,
  { signal }: CallSetting,
): Promise<{ readonly args: unknown } | { readonly problems: string } | SettledCall> {
  try {
    const { timeoutMs } = tool;
    const checked = await race(check(args), { signal, timeoutMs });
    if (signal.aborted) return abortedCall(call);
    if (!checked.done) return failedCall("timeout", texts.timeout(call.name, timeoutMs ?? 0));
    return checked.value.ok ? { args: checked.value.args } : { problems: checked.value.problems };
  } catch (error) {
    return { problems: `- the arguments: ${errorText(error)}` };
  }
}

/** What a gate that fails leaves undecided does not run. */
async function gate(
  checked: CheckedCall,
  setting: CallSetting,
): Promise<CheckedCall | CallInQuestion | SettledCall> {
  const { hooks, signal } = setting;
  if (hooks.beforeToolCall === undefined) return checked;
  const { info } = checked;
  const { call } = info;
  let decision: ToolDecision | undefined;
  try {
    decision = await untilStopped(hooks.beforeToolCall(info), signal);
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, errorText(error)));
  }
  if (signal.aborted) return abortedCall(call);
  switch (decision?.action) {
    case "block":
      return failedCall("blocked", texts.blocked(call.name, decision.reason));
    case "change":
      return withArgs(checked, decision.args, setting);
    case "ask": {
      const { question, details } = decision;
      return { checked, question, ...(details === undefined ? {} : { details }) };
    }
    default:
      return checked;
  }
}

/** Puts a question of the gate to a person. `waiting`: nobody has decided yet. */
export async function askPerson(
  { checked, ...asked }: CallInQuestion,
  { hooks, signal }: CallSetting,
): Promise<CheckedCall | SettledCall | "waiting"> {
  const { info } = checked;
  const { call } = info;
  if (hooks.onAsk === undefined) return "waiting";
  try {
    const answer = await untilStopped(hooks.onAsk({ ...info, ...asked }), signal);
    if (signal.aborted || answer === undefined) return abortedCall(call);
    if (answer.action === "wait") return "waiting";
    return answer.action === "allow"
      ? checked
      : failedCall("blocked", texts.denied(call.name, answer.reason));
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, errorText(error)));
  }
}

/** The call with the arguments of a gate, which are checked as the model's were. */
async function withArgs(
  checked: CheckedCall,
  args: JsonObject,
  setting: CallSetting,
): Promise<CheckedCall | SettledCall> {
  const { call } = checked.info;
  const compiled = setting.tools.get(call.name);
  if (compiled === undefined) return checked;
  const changed = await checkArgs(call, compiled, args, setting);
  if ("outcome" in changed) return changed;
  if ("problems" in changed) return failedCall("blocked", texts.gateFailed(call.name, changed.problems));
  return { ...checked, info: { ...checked.info, args: changed.args } };
}

/** A hook is left behind at once when the run has to stop. */
async function untilStopped<T>(value: T | Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  const waited = await race(Promise.resolve(value), { signal });
  return waited.done ? waited.value : undefined;
}

/**
 * Runs the tool, and lets the host see, and replace, what it gave. What a tool or the hook does wrong is the result; only
 * a viewer of the progress that threw is thrown.
 */
export async function perform(checked: CheckedCall, setting: CallSetting): Promise<SettledCall> {
  try {
    return await afterwards(checked, await execute(checked, setting), setting);
  } catch (error) {
    if (isAgentError(error)) throw error;
    return failedCall("error", errorText(error));
  }
}

/**
 * Runs a tool's body. Resolves whatever the body does: throws, hangs after an abort or its time-out, gives nothing.
 * After either the body has a moment to give a result of its own.
 */
async function execute({ tool, info }: CheckedCall, setting: CallSetting): Promise<SettledCall> {
  const { call, args } = info;
  const { graceMs, resultChars } = setting;
  const { timeoutMs } = tool;
  const own = new AbortController();
  const progress = new Progress(setting.onProgress);
  const context = {
    signal: own.signal,
    resultChars,
    update: (partial: ToolResult): void => progress.report(partial),
  };
  // A body written in JavaScript may be synchronous.
  const body = async (): Promise<ToolResult> => tool.execute({ id: call.id, name: call.name, args }, context);
  const work = body().then(
    (result) => ({ result: soundResult(result, call.name) }),
    (error: unknown) => ({ error }),
  );
  const ended = await race(work, {
    signal: setting.signal,
    timeoutMs,
    graceMs,
    onEnding: (why) =>
      own.abort(why === "timeout" ? new Error(late(call, timeoutMs)) : setting.signal.reason),
  });
  await progress.end();
  const outcome: ToolOutcome | undefined = ended.ending === "stopped" ? "aborted" : ended.ending;
  if (ended.done && "result" in ended.value) {
    const { result } = ended.value;
    return { result, outcome: outcome ?? (result.isError === true ? "error" : "ok") };
  }
  // What an aborted body throws says less than why it was aborted.
  if (outcome === "aborted") return failedCall(outcome, texts.abortedDuring(call.name));
  if (outcome === "timeout") return failedCall(outcome, late(call, timeoutMs));
  return failedCall("error", ended.done && "error" in ended.value ? errorText(ended.value.error) : "");
}

function late(call: ToolCallBlock, timeoutMs = 0): string {
  return texts.timeout(call.name, timeoutMs);
}

/** What the hook was about to replace is not shown as it was, should the run have to stop first. */
async function afterwards(
  { info }: CheckedCall,
  settled: SettledCall,
  { hooks, signal, graceMs }: CallSetting,
): Promise<SettledCall> {
  const { call } = info;
  if (hooks.afterToolCall === undefined) return settled;
  try {
    const given = await race(afterCall(hooks.afterToolCall, info, settled.result), { signal, graceMs });
    if (!given.done) return failedCall("aborted", texts.abortedDuring(call.name));
    if (given.value === undefined) return settled;
    const result = soundResult(given.value, call.name);
    const outcome = settled.outcome === "ok" && result.isError === true ? "error" : settled.outcome;
    return { result, outcome };
  } catch (error) {
    return failedCall("error", errorText(error));
  }
}

async function afterCall(
  hook: AfterToolCall,
  info: ToolCallInfo,
  result: ToolResult,
): Promise<ToolResult | undefined> {
  return hook({ ...info, result });
}
