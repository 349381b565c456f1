import type { ToolCallBlock } from "../content.ts";
import { reasonOf } from "../errors.ts";
import type { ToolCallInfo, ToolDecision } from "../hooks.ts";
import type { JsonObject } from "../json.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { checkArguments } from "../tools/tool-set.ts";
import type { Part } from "./part.ts";
import { Progress } from "./progress.ts";
import { type Ending, race, untilStopped } from "./race.ts";
import type { RunState } from "./run-state.ts";
import { texts } from "./texts.ts";
import { failedCall, type SettledCall, settledCall } from "./tool-result.ts";

export interface CallSetting {
  readonly run: Pick<RunState, "config" | "graceMs" | "now" | "resultChars" | "signal" | "tools" | "turn">;
  /** The model turn that asked for it. */
  readonly message: AssistantMessage;
  /** The calls of the turn that have no result yet. */
  readonly pending: () => readonly ToolCallBlock[];
  /** What a call comes to that the run ended before reaching. */
  readonly stopped: (call: ToolCallBlock) => SettledCall;
  /** Takes what a tool reports while it works. That comes at once: a tool does not wait for whoever watches. */
  readonly onUpdate: (callId: string, partial: ToolResult) => void | Promise<void>;
}

/**
 * One call on its way from what the model wrote to a result: validate → gate → execute → result. It is on record before
 * it takes effect. `waiting`: a person has not decided yet.
 */
export async function* toolCall(call: ToolCallBlock, setting: CallSetting): Part<SettledCall | "waiting"> {
  const { message, pending, run } = setting;
  const { now, signal, tools, turn } = run;
  const tool = tools.get(call.name);
  if (tool === undefined) return failedCall("error", texts.unknownTool(call.name, tools.specs));
  if (call.args === undefined) return failedCall("error", texts.malformed(call));
  const checked = await checkArgs(call, tool, call.args, setting);
  if ("outcome" in checked) return checked;
  if ("problems" in checked) return failedCall("error", texts.invalid(call.name, checked.problems));
  const valid = { ...checked, call, tool, message, turn, signal };
  const decision = await gate(valid, setting);
  const isAsked = "action" in decision;
  if (isAsked) yield { type: "tool.ask", call, question: decision.question };
  const allowed = isAsked ? await ask(valid, decision, setting) : decision;
  if (allowed === "waiting" || "outcome" in allowed) return allowed;
  const { args } = allowed;
  yield { kind: "toolStart", turn, messages: [], pendingToolCalls: pending(), call, args };
  const started = now();
  const worked = await execute(allowed, setting);
  const settled = await applyAfterToolCall(allowed, worked, run);
  return { ...settled, durationMs: now() - started };
}

/** Arguments as the schema of their tool has them, or what is wrong. Its own code may take longer than the tool may. */
async function checkArgs(
  call: ToolCallBlock,
  tool: Tool,
  args: JsonObject,
  { run: { signal }, stopped }: CallSetting,
): Promise<{ readonly args: unknown } | { readonly problems: string } | SettledCall> {
  const checked = await checkArguments(tool, args, signal);
  if (signal.aborted) return stopped(call);
  return checked ?? failedCall("timeout", texts.timeout(call.name, tool.timeoutMs ?? 0));
}

/** The gate leaves it to a person. */
type Asks = Extract<ToolDecision, { action: "ask" }>;

/** What the host's gate says. Where it fails, the call does not run. */
async function gate(info: ToolCallInfo, setting: CallSetting): Promise<ToolCallInfo | SettledCall | Asks> {
  const { run, stopped } = setting;
  const { config, signal } = run;
  const { call, tool } = info;
  if (config.beforeToolCall === undefined) return info;
  try {
    const decision = await untilStopped(config.beforeToolCall(info), signal);
    if (signal.aborted) return stopped(call);
    switch (decision?.action) {
      case "block":
        return failedCall("blocked", texts.blocked(call.name, decision.reason));
      case "ask":
        return decision;
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

/** What a person answers to the gate's question. */
async function ask(
  info: ToolCallInfo,
  { action: _asks, ...asked }: Asks,
  { run, stopped }: CallSetting,
): Promise<ToolCallInfo | SettledCall | "waiting"> {
  const { call } = info;
  const { config, signal } = run;
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
async function execute(
  { call, tool, args }: ToolCallInfo,
  { run, onUpdate }: CallSetting,
): Promise<SettledCall> {
  const { id, name } = call;
  const { timeoutMs } = tool;
  const { graceMs, resultChars, signal } = run;
  const progress = new Progress((partial) => onUpdate(id, partial));
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
async function applyAfterToolCall(
  info: ToolCallInfo,
  settled: SettledCall,
  { config, graceMs, signal }: CallSetting["run"],
): Promise<SettledCall> {
  const { afterToolCall } = config;
  const { name } = info.call;
  if (afterToolCall === undefined) return settled;
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
