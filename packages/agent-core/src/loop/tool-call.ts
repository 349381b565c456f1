import type { ToolCallBlock } from "../content.ts";
import { reasonOf } from "../errors.ts";
import type { ToolCallInfo, ToolDecision } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { checkArguments } from "../tools/tool-set.ts";
import type { Part } from "./part.ts";
import { Progress } from "./progress.ts";
import { type Ending, race, waitUnlessAborted } from "./race.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { type CompletedCall, createCompletedCall, createFailedCall } from "./tool-result.ts";

export interface CallSetting {
  readonly run: Pick<RunState, "config" | "graceMs" | "now" | "resultChars" | "signal" | "tools" | "turn">;
  /** The model turn that requested the call. */
  readonly message: AssistantMessage;
  /** Calls of the turn without a result. */
  readonly pending: () => readonly ToolCallBlock[];
  /** Creates the result of a call that the run did not execute. */
  readonly stopped: (call: ToolCallBlock) => CompletedCall;
  /** Receives the progress of a tool. The tool does not wait for viewers. */
  readonly onUpdate: (callId: string, partial: ToolResult) => void | Promise<void>;
}

/**
 * Runs one call: validates the arguments, asks the guard, and executes it. The call is recorded before it takes effect.
 * Returns `waiting` if a person has not decided yet.
 */
export async function* toolCall(call: ToolCallBlock, setting: CallSetting): Part<CompletedCall | "waiting"> {
  const { message, pending, run } = setting;
  const { now, signal, tools, turn } = run;
  const tool = tools.get(call.name);
  if (tool === undefined) return createFailedCall("error", texts.unknownTool(call.name, tools.specs));
  if (call.args === undefined) return createFailedCall("error", texts.malformed(call));
  const checked = await checkArgs(call, tool, call.args, setting);
  if ("outcome" in checked) return checked;
  if ("problems" in checked) return createFailedCall("error", texts.invalid(call.name, checked.problems));
  const valid = { ...checked, call, tool, message, turn, signal };
  const decision = await guard(valid, setting);
  const isAsked = "action" in decision;
  if (isAsked) yield { type: "tool.ask", call, question: decision.question };
  const allowed = isAsked ? await ask(valid, decision, setting) : decision;
  if (allowed === "waiting" || "outcome" in allowed) return allowed;
  const { args } = allowed;
  yield { kind: "toolStart", turn, messages: [], pendingToolCalls: pending(), call, args };
  const started = now();
  const worked = await execute(allowed, setting);
  const completed = await applyAfterToolCall(allowed, worked, run);
  return { ...completed, durationMs: now() - started };
}

/** Validates arguments. An asynchronous schema may exceed the timeout of the tool. */
async function checkArgs(
  call: ToolCallBlock,
  tool: Tool,
  args: JsonObject,
  { run: { signal }, stopped }: CallSetting,
): Promise<{ readonly args: unknown } | { readonly problems: string } | CompletedCall> {
  const checked = await checkArguments(tool, args, signal);
  if (signal.aborted) return stopped(call);
  return checked ?? createFailedCall("timeout", texts.timeout(call.name, tool.timeoutMs ?? 0));
}

/** A guard's decision to ask a person. */
type AskDecision = Extract<ToolDecision, { action: "ask" }>;

/** Applies `beforeToolCall`. If it fails, the call does not run. */
async function guard(
  info: ToolCallInfo,
  setting: CallSetting,
): Promise<ToolCallInfo | CompletedCall | AskDecision> {
  const { run, stopped } = setting;
  const { config, signal } = run;
  const { call, tool } = info;
  if (config.beforeToolCall === undefined) return info;
  try {
    const decision = await waitUnlessAborted(config.beforeToolCall(info), signal);
    if (signal.aborted) return stopped(call);
    switch (decision?.action) {
      case "block":
        return createFailedCall("blocked", texts.blocked(call.name, decision.reason));
      case "ask":
        return decision;
      case "change": {
        // Validate these like the model's own arguments.
        const changed = await checkArgs(call, tool, decision.args, setting);
        if ("problems" in changed) throw new Error(changed.problems);
        return "outcome" in changed ? changed : { ...info, args: changed.args };
      }
      default:
        return info;
    }
  } catch (error) {
    return createFailedCall("blocked", texts.guardFailed(call.name, reasonOf(error)));
  }
}

/** Shows a person the guard's question. */
async function ask(
  info: ToolCallInfo,
  { action: _asks, ...asked }: AskDecision,
  { run, stopped }: CallSetting,
): Promise<ToolCallInfo | CompletedCall | "waiting"> {
  const { call } = info;
  const { config, signal } = run;
  if (config.onAsk === undefined) return "waiting";
  try {
    const answer = await waitUnlessAborted(config.onAsk({ ...info, ...asked }), signal);
    if (signal.aborted || answer === undefined) return stopped(call);
    if (answer.action === "wait") return "waiting";
    if (answer.action === "allow") return info;
    return createFailedCall("blocked", texts.denied(call.name, answer.reason));
  } catch (error) {
    return createFailedCall("blocked", texts.guardFailed(call.name, reasonOf(error)));
  }
}

/**
 * Runs a tool. Resolves even if the tool throws, returns nothing, or hangs after an abort or its timeout. In the latter
 * cases, the tool has a grace period to return a result. Rejects only if a viewer of its progress threw.
 */
async function execute(
  { call, tool, args }: ToolCallInfo,
  { run, onUpdate }: CallSetting,
): Promise<CompletedCall> {
  const { id, name } = call;
  const { timeoutMs } = tool;
  const { graceMs, resultChars, signal } = run;
  const progress = new Progress((partial) => onUpdate(id, partial));
  const own = new AbortController();
  const update = (partial: ToolResult): void => progress.report(partial);
  const context = { signal: own.signal, resultChars, update };
  const late = (): string => texts.timeout(name, timeoutMs ?? 0);
  const body = async (): Promise<CompletedCall | undefined> => {
    try {
      return createCompletedCall(await tool.execute({ id, name, args }, context), name);
    } catch (error) {
      // The reason of the abort is more helpful than the error of an aborted tool.
      return own.signal.aborted ? undefined : createFailedCall("error", reasonOf(error));
    }
  };
  const onEnding = (why: Ending): void => own.abort(why === "timeout" ? new Error(late()) : signal.reason);
  const raced = await race(body(), { signal, timeoutMs, graceMs, onEnding });
  await progress.end();
  const { ending } = raced;
  const completed = raced.done ? raced.value : undefined;
  if (completed !== undefined) return ending === undefined ? completed : { ...completed, outcome: ending };
  return ending === "timeout"
    ? createFailedCall(ending, late())
    : createFailedCall("aborted", texts.abortedDuring(name));
}

/** Lets the host replace the result of a tool. If the run has to stop first, the original result is withheld. */
async function applyAfterToolCall(
  info: ToolCallInfo,
  completed: CompletedCall,
  { config, graceMs, signal }: CallSetting["run"],
): Promise<CompletedCall> {
  const { afterToolCall } = config;
  const { name } = info.call;
  if (afterToolCall === undefined) return completed;
  try {
    const hook = async () => afterToolCall({ ...info, result: completed.result });
    const given = await race(hook(), { signal, graceMs });
    if (!given.done) return createFailedCall("aborted", texts.abortedDuring(name));
    if (given.value === undefined) return completed;
    const replaced = createCompletedCall(given.value, name);
    return completed.outcome === "ok" ? replaced : { ...replaced, outcome: completed.outcome };
  } catch (error) {
    return createFailedCall("error", reasonOf(error));
  }
}
