import { isHarmless, type JsonObject, textOf } from "@signalbox/agent-core";
import { getSpeakerKey } from "@signalbox/channel";
import type { RunTools } from "../../agent/toolbox.ts";
import { parseToolArguments } from "../../command-syntax/arguments.ts";
import type { Order } from "../../command-syntax/read.ts";
import type { GatewayContext } from "../../context.ts";
import { getSenderPhrases } from "../../messages/sender-phrases.ts";
import { getCurrentRights } from "../2-admit/current-rights.ts";
import { type CommandRun, endCommand, stopCommand } from "./command-run.ts";

/** Runs the tool of a skill's command. The call is checked, recorded and journaled like any other call. */
export async function dispatch(
  ctx: GatewayContext,
  run: CommandRun,
  { command, args: text }: Extract<Order, { kind: "dispatch" }>,
): Promise<void> {
  const { agent, message, runId, before } = run;
  const phrases = await getSenderPhrases(ctx, agent, message);
  const { event, role } = message.stored;
  const name = command.dispatch?.tool ?? "";
  const tools = await ctx.toolbox.forRun({
    agent,
    event,
    role,
    speaker: getSpeakerKey(event),
    sessionKey: message.sessionKey,
    runId,
    messageId: message.id,
    getCurrentRights: () => getCurrentRights(ctx, agent.id, [message]),
    onSent: () => {},
  });
  try {
    tools.addMessage(event, role, getSpeakerKey(event));
    const wasStarted = before?.calls.some((call) => call.state === "started") === true;
    if (wasStarted && tools.effects(name) === "external")
      return await endCommand(ctx, run, phrases.outcomeUnknown);
    const tool = tools.tools.find((one) => one.name === name);
    if (tool === undefined) return await endCommand(ctx, run, phrases.mayNotUseTool(name));
    const args = parseToolArguments(tool, text);
    if (args === undefined) return await endCommand(ctx, run, phrases.noPlainText(name));
    const said = await call(ctx, run, tools, { name, args });
    if (run.handle.signal.aborted) return await stopCommand(ctx, run);
    await endCommand(ctx, run, said.trim() === "" ? phrases.done : said);
  } finally {
    tools.end();
  }
}

/** Executes the only call of the run with a journal entry for each step. Returns the tool's text. */
async function call(
  { store, lease, waitingRuns, hooks, now }: GatewayContext,
  { agent, message, handle, runId, before }: CommandRun,
  tools: RunTools,
  { name, args }: { readonly name: string; readonly args: JsonObject },
): Promise<string> {
  // The run has only this call, so the run id makes the call id unique.
  const callId = `command-${runId}`;
  const effects = tools.effects(name);
  if (before === undefined || before.calls.length === 0)
    await store.runs.step({ runId, lease, messages: [], intents: [{ callId, name, args, effects }] });
  const startedAt = now();
  const result = await tools.call(name, args, {
    callId,
    signal: handle.signal,
    asking: waitingRuns.track(runId, handle).during,
    ...(isHarmless(effects)
      ? {}
      : { beforeRun: () => store.runs.toolStarted({ runId, lease, callIds: [callId] }) }),
  });
  const text = textOf(result.content, "\n");
  hooks.observe("after_tool_call", {
    agentId: agent.id,
    sessionKey: message.sessionKey,
    runId,
    tool: name,
    callId,
    args,
    text,
    outcome: result.isError === true ? "error" : "ok",
    durationMs: now() - startedAt,
  });
  return text;
}
