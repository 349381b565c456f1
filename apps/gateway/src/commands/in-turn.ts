import {
  addUsage,
  type CompactionCache,
  compact,
  estimateTokens,
  type JsonObject,
  type Tool,
  toolSpec,
} from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import { type InterruptedRun, type RunId, StoreError } from "@signalbox/store";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Queued, QueuedMessage } from "../path/4-queue/message.ts";
import type { Histories } from "../path/5-prepare/history.ts";
import type { BegunRun } from "../path/5-prepare/opened-run.ts";
import { seedOf } from "../path/5-prepare/session.ts";
import { commandOf } from "../path/5-prepare/take-up.ts";
import type { Askings } from "../path/6-run/waiting.ts";
import { type Conclusion, failedRun, STOPPED_RUN } from "../path/7-conclude/commit.ts";
import type { Refuse } from "../path/7-conclude/refuse.ts";
import { ShutdownAbort } from "../path/shutdown.ts";
import type { Agent, Agents } from "../resolve/agents.ts";
import type { Models } from "../resolve/models.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import { speakerOf } from "../tools/tool-run.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { Order } from "./read.ts";
import { type SettlePorts, settleCommand } from "./settle.ts";

export interface InTurnPorts extends SettlePorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox" | "sessions" | "runs">;
  readonly agents: Pick<Agents, "get">;
  readonly refuse: Refuse;
  readonly histories: Pick<Histories, "load" | "forget">;
  readonly models: Pick<Models, "of">;
  readonly toolbox: Pick<Toolbox, "forRun">;
  readonly askings: Pick<Askings, "of">;
  readonly compactionCache: CompactionCache;
  /** Commits the end of a run, and lets it be delivered. */
  readonly finish: (run: BegunRun, conclusion: Conclusion) => Promise<void>;
  readonly logger: Logger;
}

/** A command that has its place in the conversation now. */
interface InTurn {
  readonly ticket: QueuedMessage;
  readonly agent: Agent;
  /** Absent where its message is no order any more: its skill is gone, for instance. */
  readonly order: Order | undefined;
  readonly handle: RunHandle<Queued>;
}

/** A command's run: nothing of it becomes history, but what it does is journalled as a turn's doings are. */
interface CommandRun extends InTurn {
  readonly runId: RunId;
  readonly name: string;
  /** What an earlier process left, where the run goes on. */
  readonly before?: InterruptedRun<GatewayBodies>;
}

/** Commands that have a turn. What fails in the store is thrown. */
export interface InTurnCommands {
  /** Carries out a command that waited for its turn. */
  answer(message: QueuedMessage, handle: RunHandle<Queued>): Promise<void>;
  /** Goes on with one that an earlier process began. */
  goOn(
    message: QueuedMessage,
    handle: RunHandle<Queued>,
    interrupted: InterruptedRun<GatewayBodies>,
  ): Promise<void>;
}

export function createInTurnCommands(ports: InTurnPorts): InTurnCommands {
  const turnOf = (ticket: QueuedMessage, handle: RunHandle<Queued>): InTurn | undefined => {
    const agent = ports.agents.get(ticket.agentId);
    return agent && { ticket, agent, order: ticket.order, handle };
  };
  return {
    async answer(message, handle) {
      const turn = turnOf(message, handle);
      if (turn !== undefined) await answerInTurn(ports, turn);
      else await ports.refuse([message], NO_AGENT);
    },
    async goOn(message, handle, before) {
      const turn = turnOf(message, handle);
      const begun = { runId: before.run.id, sessionKey: message.sessionKey, messages: [message], handle };
      if (turn !== undefined) await resumeCommand(ports, turn, before);
      else await ports.finish(begun, failedRun("no_agent"));
    },
  };
}

const NO_AGENT = { code: "no_agent", message: "The agent of this command is not configured any more." };

async function answerInTurn(options: InTurnPorts, turn: InTurn): Promise<void> {
  const { store, lease } = options;
  const { ticket, agent, order } = turn;
  if (order?.kind === "command" && (order.name === "new" || order.name === "reset")) {
    if ((await store.sessions.get(ticket.sessionKey)) !== undefined)
      await store.sessions.reset(ticket.sessionKey, lease);
    options.histories.forget(ticket.sessionKey);
    return settleCommand(options, ticket, { name: order.name, text: "A new conversation." });
  }
  const name = nameOf(order);
  const begun = await store.runs.begin({
    session: seedOf(ticket, agent),
    lease,
    inboxIds: [ticket.id],
    userMessages: [],
    meta: { command: name },
  });
  if (begun.outcome === "busy")
    throw new StoreError("busy", `the session ${ticket.sessionKey} is held by the run ${begun.run.id}`);
  await goOn(options, { ...turn, runId: begun.run.id, name });
}

function resumeCommand(
  options: InTurnPorts,
  turn: InTurn,
  before: InterruptedRun<GatewayBodies>,
): Promise<void> {
  return goOn(options, { ...turn, runId: before.run.id, name: commandOf(before) ?? "", before });
}

async function goOn(options: InTurnPorts, run: CommandRun): Promise<void> {
  const { ticket, order, runId } = run;
  options.live.publish(ticket.sessionKey, {
    type: "run.start",
    runId,
    answers: [ticket.stored.event.messageId],
  });
  try {
    if (order?.kind === "dispatch") await dispatch(options, run, order);
    else if (order?.kind === "command" && order.name === "compact") await compactNow(options, run);
    else await end(options, run, "This command is not there any more, so it was not carried out.");
  } catch (error) {
    // What a failing store leaves is the journal's; it goes on from there.
    if (error instanceof StoreError) throw error;
    if (error instanceof ShutdownAbort) return leaveOpen(options, run);
    options.logger.error({ run: runId, err: messageOf(error) }, "a command failed inside the gateway");
    await options.finish(begunRun(run), failedRun("internal", messageOf(error)));
  }
}

function begunRun({ runId, ticket, handle }: CommandRun): BegunRun {
  return { runId, sessionKey: ticket.sessionKey, messages: [ticket], handle };
}

function nameOf(order: Order | undefined): string {
  if (order?.kind === "dispatch") return order.command.name;
  return order?.kind === "command" ? order.name : "unknown";
}

/** A quarter of the window stays as it is, as when a turn runs out of room, and never all of a short conversation. */
const KEPT_SHARE = 0.25;

async function compactNow(options: InTurnPorts, run: CommandRun): Promise<void> {
  const { store, lease, histories } = options;
  const { agent, handle } = run;
  const { sessionKey } = run.ticket;
  const session = await store.sessions.get(sessionKey);
  const agentModel = options.models.of(agent, session?.model);
  if (agentModel === undefined) return end(options, run, `The agent ${agent.id} has no usable model.`);
  const { messages, places } = await histories.load(sessionKey, session);
  const tokens = estimateTokens(messages);
  const done = await compact({
    messages,
    keepTokens: Math.floor(Math.min(agentModel.model.contextWindow, tokens) * KEPT_SHARE),
    model: agentModel.model,
    stream: agentModel.stream,
    policy: { cache: options.compactionCache },
    signal: handle.signal,
    now: options.now,
  });
  if (handle.signal.aborted) return stopped(options, run);
  const upTo = done === undefined ? undefined : places[done.replaced - 1];
  if (done === undefined || upTo === undefined) return end(options, run, "There is nothing to compact yet.");
  await store.sessions.compact(sessionKey, { summary: done.summary, upTo, lease });
  histories.forget(sessionKey);
  const usages = done.turns.flatMap((turn) => turn.usage ?? []);
  const [first, ...rest] = usages;
  const used =
    first === undefined
      ? {}
      : { used: { usage: rest.reduce(addUsage, first), turns: done.turns.length, toolCalls: 0 } };
  const by = done.source === "model" ? "" : " The model gave none in time, so it only lists what there was.";
  const text = `A summary stands for ${done.replaced} of ${messages.length} messages now (about ${tokens} tokens before).${by}`;
  await end(options, run, text, used);
}

/** Runs the tool of a skill's command, decided, recorded and journalled as any call is. */
async function dispatch(
  options: InTurnPorts,
  run: CommandRun,
  { command, args }: Extract<Order, { kind: "dispatch" }>,
): Promise<void> {
  const { store, lease } = options;
  const { ticket, agent, handle, runId, before } = run;
  const name = command.dispatch?.tool ?? "";
  const tools = await options.toolbox.forRun({
    agent,
    event: ticket.stored.event,
    role: ticket.stored.role,
    speaker: speakerOf(ticket.stored.event),
    sessionKey: ticket.sessionKey,
    runId,
    messageId: ticket.id,
    onSent: () => {},
  });
  try {
    tools.heard(ticket.stored.event, ticket.stored.role, speakerOf(ticket.stored.event));
    const effects = tools.effects(name);
    if (effects === "external" && before?.calls.some((call) => call.state === "started") === true) {
      return await end(options, run, OUTCOME_UNKNOWN);
    }
    const tool = tools.tools.find((one) => one.name === name);
    if (tool === undefined) return await end(options, run, `You may not use the tool ${name} here.`);
    const given = argumentsOf(tool, args);
    if (given === undefined)
      return await end(options, run, `The tool ${name} cannot be called with plain text.`);
    // The run has this one call, so its id makes it unique.
    const callId = `command-${runId}`;
    if (before === undefined || before.calls.length === 0) {
      const intent = { callId, name, args: given, effects };
      await store.runs.step({ runId, lease, messages: [], intents: [intent] });
    }
    const startedAt = options.now();
    const result = await tools.call(name, given, {
      callId,
      signal: handle.signal,
      asking: options.askings.of(runId, handle).during,
      ...(effects === "external"
        ? { started: () => store.runs.toolStarted({ runId, lease, callIds: [callId] }) }
        : {}),
    });
    const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    options.hooks.observe("after_tool_call", {
      agentId: agent.id,
      sessionKey: ticket.sessionKey,
      runId,
      tool: name,
      callId,
      args: given,
      outcome: result.isError === true ? "error" : "ok",
      text,
      durationMs: options.now() - startedAt,
    });
    if (handle.signal.aborted) return await stopped(options, run);
    await end(options, run, text.trim() === "" ? "Done." : text);
  } finally {
    tools.end();
  }
}

const OUTCOME_UNKNOWN =
  "The gateway was restarted while this ran, so it may or may not have taken effect. Check before you do it again.";

/** What was written after the command, as the one text the tool needs. */
function argumentsOf(tool: Tool, text: string): JsonObject | undefined {
  const { properties, required } = toolSpec(tool).inputSchema;
  const needed = Array.isArray(required) ? required : [];
  const known =
    properties !== null && typeof properties === "object" && !Array.isArray(properties) ? properties : {};
  const texts = Object.entries(known).flatMap(([name, schema]) => (isPlainText(schema) ? [name] : []));
  if (needed.length === 0) {
    const [only] = texts;
    return text === "" ? {} : only === undefined ? undefined : { [only]: text };
  }
  const [name] = needed;
  return needed.length === 1 && typeof name === "string" && texts.includes(name)
    ? { [name]: text }
    : undefined;
}

function isPlainText(schema: unknown): boolean {
  return (
    schema !== null &&
    typeof schema === "object" &&
    "type" in schema &&
    schema.type === "string" &&
    !("enum" in schema)
  );
}

async function end(
  options: InTurnPorts,
  run: CommandRun,
  said: string,
  more: Pick<Conclusion, "used"> = {},
): Promise<void> {
  const { agentId, sessionKey, stored } = run.ticket;
  const asked = { agentId, sessionKey, event: stored.event, source: "command", text: said } as const;
  const { text } = await options.hooks.modify("before_reply", asked);
  const silent = text === "";
  await options.finish(begunRun(run), {
    ...more,
    ...{ outcome: "completed", rule: `command:${run.name}` },
    state: silent ? "silent" : "replied",
    reply: silent ? { text, silent } : { text, silent, note: text },
    end: silent ? "silent" : "replied",
  });
}

/** Ends a command that was stopped; one that the gateway's own end stopped is left for the next start. */
async function stopped(options: InTurnPorts, run: CommandRun): Promise<void> {
  if (run.handle.signal.reason instanceof ShutdownAbort) return leaveOpen(options, run);
  await options.finish(begunRun(run), STOPPED_RUN);
}

function leaveOpen({ tracer }: InTurnPorts, { ticket }: CommandRun): void {
  tracer.note(ticket.id, "lane", "stopped with the gateway; goes on at the next start");
}
