import type { ToolCallBlock } from "../content.ts";
import { reasonOf } from "../errors.ts";
import type { ToolCallInfo, ToolDecision } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { checkArguments } from "../tools/tool-set.ts";
import { Progress } from "./progress.ts";
import { type Ending, race, untilStopped } from "./race.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { failedCall, type SettledCall, settledCall } from "./tool-result.ts";

export interface CallSetting {
  readonly run: RunState;
  /** The model turn that asked for it. */
  readonly message: AssistantMessage;
  /** What a call comes to that the end of the run comes before. */
  readonly stopped: (call: ToolCallBlock) => SettledCall;
}

/** The call with arguments that pass the schema of its tool, or what it comes to without. */
export async function validate(
  call: ToolCallBlock,
  setting: CallSetting,
): Promise<ToolCallInfo | SettledCall> {
  const { run, message } = setting;
  const { tools, signal, turn } = run;
  const tool = tools.get(call.name);
  if (tool === undefined) return failedCall("error", texts.unknownTool(call.name, tools.specs));
  if (call.args === undefined) return failedCall("error", texts.malformed(call));
  const checked = await checkArgs(call, tool, call.args, setting);
  if ("problems" in checked) return failedCall("error", texts.invalid(call.name, checked.problems));
  return "outcome" in checked ? checked : { ...checked, call, tool, message, turn, signal };
}

/** A schema's own code may take longer than the tool may. */
async function checkArgs(
  call: ToolCallBlock,
  tool: Tool,
  args: JsonObject,
  { run, stopped }: CallSetting,
): Promise<{ readonly args: unknown } | { readonly problems: string } | SettledCall> {
  const checked = await checkArguments(tool, args, run.signal);
  if (run.signal.aborted) return stopped(call);
  return checked ?? failedCall("timeout", texts.timeout(call.name, tool.timeoutMs ?? 0));
}

/** The call that may run, what it comes to without, or that nobody has decided yet. */
type Gated = ToolCallInfo | SettledCall | "waiting";

/** What the host's gate says. What a gate that fails leaves undecided does not run. */
export async function gate(info: ToolCallInfo, setting: CallSetting): Promise<Gated> {
  const { run, stopped } = setting;
  const { config, signal } = run;
  if (config.beforeToolCall === undefined) return info;
  const { call, tool } = info;
  try {
    const decision = await untilStopped(config.beforeToolCall(info), signal);
    if (signal.aborted) return stopped(call);
    switch (decision?.action) {
      case "block":
        return failedCall("blocked", texts.blocked(call.name, decision.reason));
      case "ask":
        return askPerson(info, decision, setting);
      case "change": {
        // Checked as the model's own were.
        const changed = await checkArgs(call, tool, decision.args, setting);
        if ("problems" in changed) throw new Error(changed.problems);
        return "outcome" in changed ? changed : { ...info, args: changed.args };
      }
      default:
        return info;
    }
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, reasonOf(error)));
  }
}

/** Puts a question of the gate to a person. */
async function askPerson(
  info: ToolCallInfo,
  { action: _asks, ...asked }: Extract<ToolDecision, { action: "ask" }>,
  { run, stopped }: CallSetting,
): Promise<Gated> {
  const { call } = info;
  const { config, signal } = run;
  await run.emit({ type: "tool.ask", call, question: asked.question });
  if (config.onAsk === undefined) return "waiting";
  try {
    const answer = await untilStopped(config.onAsk({ ...info, ...asked }), signal);
    if (signal.aborted || answer === undefined) return stopped(call);
    if (answer.action === "wait") return "waiting";
    if (answer.action === "allow") return info;
    return failedCall("blocked", texts.denied(call.name, answer.reason));
  } catch (error) {
    return failedCall("blocked", texts.gateFailed(call.name, reasonOf(error)));
  }
}

/**
 * Runs a tool's body. Resolves whatever the body does: throws, hangs after an abort or its time-out, gives nothing.
 * After either the body has a moment to give a result of its own. Only a viewer of the progress that threw is thrown.
 */
export async function execute({ call, tool, args }: ToolCallInfo, run: RunState): Promise<SettledCall> {
  const { id, name } = call;
  const { timeoutMs } = tool;
  const { graceMs, resultChars, signal } = run;
  const progress = new Progress((partial) => run.emit({ type: "tool.update", callId: id, partial }));
  const own = new AbortController();
  const update = (partial: ToolResult): void => progress.report(partial);
  const context = { signal: own.signal, resultChars, update };
  const late = (): string => texts.timeout(name, timeoutMs ?? 0);
  const body = async (): Promise<SettledCall | undefined> => {
    try {
      return settledCall(await tool.execute({ id, name, args }, context), name);
    } catch (error) {
      // What an aborted body throws says less than why it was aborted.
      return own.signal.aborted ? undefined : failedCall("error", reasonOf(error));
    }
  };
  const onEnding = (why: Ending): void => own.abort(why === "timeout" ? new Error(late()) : signal.reason);
  const raced = await race(body(), { signal, timeoutMs, graceMs, onEnding });
  await progress.end();
  const { ending } = raced;
  const settled = raced.done ? raced.value : undefined;
  if (settled !== undefined) return ending === undefined ? settled : { ...settled, outcome: ending };
  return ending === "timeout" ? failedCall(ending, late()) : failedCall("aborted", texts.abortedDuring(name));
}

/**
 * Lets the host see, and replace, what a tool gave. Should the run have to stop first, what the hook
 * might have replaced is not shown as it was.
 */
export async function afterwards(
  info: ToolCallInfo,
  settled: SettledCall,
  { config, signal, graceMs }: RunState,
): Promise<SettledCall> {
  const { afterToolCall } = config;
  if (afterToolCall === undefined) return settled;
  const { name } = info.call;
  try {
    const hook = async () => afterToolCall({ ...info, result: settled.result });
    const given = await race(hook(), { signal, graceMs });
    if (!given.done) return failedCall("aborted", texts.abortedDuring(name));
    if (given.value === undefined) return settled;
    const replaced = settledCall(given.value, name);
    return settled.outcome === "ok" ? replaced : { ...replaced, outcome: settled.outcome };
  } catch (error) {
    return failedCall("error", reasonOf(error));
  }
}
