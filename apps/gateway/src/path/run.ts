import {
  type AgentEvent,
  type AgentMessage,
  type CompactionCache,
  type PendingCall,
  type PendingDecision,
  runAgentLoop,
  type ToolResult,
  type TransformInfo,
} from "@signalbox/agent-core";
import type { ChannelDefinition } from "@signalbox/channel";
import type { Router } from "@signalbox/routing";
import { type InboxId, type LeaseToken, type OutboxRow, type RunId, StoreError } from "@signalbox/store";
import type { Agent, Agents } from "../agents.ts";
import type { Commands } from "../commands/commands.ts";
import { answerInTurn, commandOf, resumeCommand } from "../commands/in-turn.ts";
import { messageOf } from "../errors.ts";
import type { AfterToolCall, Hooks } from "../hooks.ts";
import type { LiveHub } from "../live.ts";
import type { Logger } from "../log.ts";
import type { AgentModel, Models } from "../models.ts";
import type { Outcome } from "../service.ts";
import type { Toolbox } from "../toolbox.ts";
import { conclude, failureNote, failWithoutRun, finish } from "./conclude.ts";
import type { Histories } from "./history.ts";
import { createJournal } from "./journal.ts";
import type { Batch, RunHandle } from "./lane.ts";
import { chooseModel } from "./model-choice.ts";
import type { InboundExtras, Prompts } from "./prompt.ts";
import { seedOf } from "./session.ts";
import { ShutdownAbort } from "./shutdown.ts";
import { type GatewayBodies, type GatewayStore, isFatal } from "./stored.ts";
import { createSuspects } from "./suspects.ts";
import { createTaintMemory } from "./taint.ts";
import type { MessageTicket, ResumeTicket, Ticket } from "./ticket.ts";
import type { Tracer } from "./trace.ts";
import { createViewer, saidIn } from "./viewer.ts";

export interface RunOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly agents: Agents;
  readonly models: Models;
  readonly toolbox: Toolbox;
  readonly prompts: Prompts;
  readonly histories: Histories;
  readonly hooks: Hooks;
  /** What messages order beyond their plain text. */
  readonly readOrder: Commands["read"];
  /** Summaries of chunks, so that an interrupted compaction goes on where it was. */
  readonly compactionCache: CompactionCache;
  readonly router: Router;
  /** The channel of a configured account, also while the account does not run. */
  readonly definition: (channel: string, account: string) => ChannelDefinition | undefined;
  readonly live: LiveHub;
  readonly tracer: Tracer;
  readonly logger: Logger;
  readonly now: () => number;
  readonly deliver: (rows: readonly OutboxRow<GatewayBodies>[]) => void;
  /** Told the end of each message. */
  readonly onOutcome: (id: InboxId, outcome: Outcome) => void;
  /** Lets nothing of a session start until its messages are put back. */
  readonly hold: (sessionKey: string) => void;
  /** Puts messages back in front of their lane. */
  readonly putBack: (sessionKey: string, tickets: readonly Ticket[]) => void;
  /** Told when no later write can go well: another process holds the lease, or the disk failed under the store. */
  readonly onFatal: (error: Error) => void;
}

/** How long a failing store is left alone, in milliseconds. */
const AGAIN_MS = 2_000;
/** Each try may ask the model again, so a store that goes on failing is asked ever less often. */
const LONGEST_AGAIN_MS = 5 * 60_000;
/** Starts of one run after which its message is set aside. */
const POISON_ATTEMPTS = 3;
/** How long such a run may go on before others that may be to blame go on beside it, in milliseconds. */
const SUSPECT_ALONE_MS = 10_000;

/** What one run is about. */
interface RunScope {
  readonly runId: RunId;
  readonly agent: Agent;
  readonly agentModel: AgentModel;
  readonly sessionKey: string;
  /** The messages it answers; steering adds to them. */
  readonly tickets: MessageTicket[];
  readonly handle: RunHandle<Ticket>;
  readonly generation: number;
  readonly history: readonly AgentMessage[];
  /** Absent: go on from the end of the history. */
  readonly input?: readonly AgentMessage[];
  /** Places of the messages of `history` and `input` in the session. */
  readonly places: readonly number[];
  /** Calls an earlier process began without a result. */
  readonly started: ReadonlySet<string>;
  /** Texts of the run's turns before this process took it up. */
  readonly earlier: readonly string[];
  /** Texts the message tool has sent to this conversation. */
  readonly sentByTool: string[];
}

/** Answers a batch of messages, or goes on with a run that an earlier process left. Never rejects. */
export function createRunner(
  options: RunOptions,
): (batch: Batch<Ticket>, handle: RunHandle<Ticket>) => Promise<void> {
  /** Sessions whose last run met a failing store, and how often in a row. */
  const failures = new Map<string, number>();
  const suspects = createSuspects(SUSPECT_ALONE_MS);
  return async (batch, handle) => {
    const [first] = batch.messages;
    if (first === undefined) return;
    const { sessionKey } = first;
    const tickets = messagesIn([...batch.summarised, ...batch.messages]);
    const watched: RunHandle<Ticket> = {
      signal: handle.signal,
      takeSteering() {
        const taken = handle.takeSteering();
        tickets.push(...messagesIn(taken));
        return taken;
      },
    };
    try {
      if (first.kind === "resume") {
        const { attempts } = first.interrupted.run;
        const work = (): Promise<void> => resume(options, first, watched);
        await (attempts === POISON_ATTEMPTS - 1 ? suspects.alone(handle.signal, work) : work());
      } else await begin(options, messagesIn(batch.messages), messagesIn(batch.summarised), watched);
      failures.delete(sessionKey);
    } catch (error) {
      const fatal = fatalIn(error);
      if (fatal) return options.onFatal(fatal);
      options.logger.error(
        { session: sessionKey, err: messageOf(error) },
        "a run could not go on; it is tried again",
      );
      const failed = failures.get(sessionKey) ?? 0;
      failures.set(sessionKey, failed + 1);
      options.hold(sessionKey);
      const again = setTimeout(
        () => {
          tryAgain(options, sessionKey, tickets).catch((failure: unknown) => {
            options.logger.error(
              { session: sessionKey, err: messageOf(failure) },
              "a session could not be read",
            );
            options.putBack(sessionKey, tickets);
          });
        },
        Math.min(LONGEST_AGAIN_MS, AGAIN_MS * 2 ** failed),
      );
      again.unref();
    }
  };
}

/** After the store failed: goes on with the run the journal still holds, and with the messages it does not have. */
async function tryAgain(
  { store, putBack }: RunOptions,
  sessionKey: string,
  tickets: readonly MessageTicket[],
): Promise<void> {
  const session = await store.sessions.get(sessionKey);
  const held = session?.activeRun === undefined ? undefined : await store.runs.inspect(session.activeRun);
  const [first] = held?.inbox ?? [];
  const resumed: ResumeTicket[] =
    held && first
      ? [
          {
            kind: "resume",
            id: first.id,
            sessionKey,
            agentId: held.run.agentId,
            interrupted: held,
            exclusive: true,
          },
        ]
      : [];
  const waiting: MessageTicket[] = [];
  for (const ticket of tickets) {
    if ((await store.inbox.get(ticket.id))?.state === "queued") waiting.push(ticket);
  }
  putBack(sessionKey, [...resumed, ...waiting]);
}

async function begin(
  options: RunOptions,
  tickets: readonly MessageTicket[],
  shortened: readonly MessageTicket[],
  handle: RunHandle<Ticket>,
): Promise<void> {
  const [first] = tickets;
  const last = tickets.at(-1);
  if (!first || !last) return;
  const { store, lease } = options;
  const { sessionKey, agentId } = first;
  const { order } = first;
  const named = options.agents.get(agentId);
  if (named && order !== undefined && order.kind !== "turn")
    return answerInTurn(options, { ticket: first, agent: named, order, handle });
  const session = await store.sessions.get(sessionKey);
  const chosen = named && (await chooseModel(options, named, last, session));
  const all = [...shortened, ...tickets];
  if (!chosen) return failWithoutRun(options, all, named ? "no_model" : "no_agent", agentId);
  const { agent, agentModel } = chosen;

  const { conversation } = last.stored.event;
  if (
    session &&
    ((order?.kind === "turn" && order.fresh) ||
      options.router.resetDue(conversation.kind, { lastMessageAt: session.updatedAt, now: options.now() }))
  ) {
    await store.sessions.reset(sessionKey, lease);
  }
  const seed = seedOf(last, agent);
  if (session === undefined && last.stored.history !== undefined) {
    await store.sessions.ensure(seed);
    await store.sessions.append(sessionKey, options.prompts.seedMessages(last), lease);
  }
  const current = await store.sessions.get(sessionKey);
  const history = await options.histories.load(sessionKey, current);
  const spoken = await options.prompts.userMessages(tickets);
  const input = shortened.length > 0 ? [options.prompts.summary(shortened), ...spoken] : spoken;
  const begun = await store.runs.begin({
    session: seed,
    lease,
    inboxIds: all.map((ticket) => ticket.id),
    userMessages: input,
    meta: { model: `${agentModel.model.provider}/${agentModel.model.id}` },
  });
  if (begun.outcome === "busy")
    throw new Error(`the session ${sessionKey} is held by the run ${begun.run.id}`);
  const newest = begun.session.lastSeq;
  await loop(options, {
    runId: begun.run.id,
    agent,
    agentModel,
    sessionKey,
    tickets: all,
    handle,
    generation: begun.session.generation,
    history: history.messages,
    input,
    places: [...history.places, ...input.map((_, index) => newest - input.length + 1 + index)],
    started: new Set(),
    earlier: [],
    sentByTool: [],
  });
}

async function resume(options: RunOptions, ticket: ResumeTicket, handle: RunHandle<Ticket>): Promise<void> {
  const { store, lease } = options;
  const { interrupted } = ticket;
  const { lease: written } = interrupted.run;
  // A run of this very process was left by a failing store; one of an earlier process has to be taken over.
  const ours = written.name === lease.name && written.epoch === lease.epoch;
  const run = ours ? interrupted.run : await store.runs.adopt({ runId: interrupted.run.id, lease });
  if (!run) return;
  const { sessionKey, agentId } = run;
  const tickets = interrupted.inbox.map((row): MessageTicket => {
    const order = options.readOrder(row.payload, agentId);
    return {
      kind: "message",
      id: row.id,
      sessionKey,
      agentId,
      stored: row.payload,
      ...(order === undefined ? {} : { order }),
      exclusive: false,
      recovered: true,
    };
  });
  for (const one of tickets)
    options.tracer.note(one.id, "lane", `taken up after a restart, start ${run.attempts}`);
  const named = options.agents.get(agentId);
  const session = await store.sessions.get(sessionKey);
  const poisoned = run.attempts > POISON_ATTEMPTS;
  const [first] = tickets;
  const last = tickets.at(-1);
  if (!poisoned && named && first && commandOf(interrupted) !== undefined) {
    return resumeCommand(options, { ticket: first, agent: named, order: first.order, handle }, interrupted);
  }
  const chosen = named && last && (await chooseModel(options, named, last, session));
  if (poisoned || !chosen) {
    options.logger.error({ run: run.id, attempts: run.attempts }, "an interrupted run was set aside");
    const code = poisoned ? "poison" : "no_agent";
    const text = failureNote(code);
    return finish(
      options,
      { runId: run.id, sessionKey, tickets },
      {
        outcome: poisoned ? "poisoned" : "failed",
        state: "failed-reported",
        rule: code,
        reply: { text, silent: false, note: text },
        end: "failed",
        error: { code, message: text },
      },
    );
  }
  const { agent, agentModel } = chosen;
  const history = await options.histories.load(sessionKey, session);
  const earlier = interrupted.messages.flatMap(({ message }) =>
    message.role === "assistant" ? [saidIn(message)] : [],
  );
  await loop(options, {
    runId: run.id,
    agent,
    agentModel,
    sessionKey,
    tickets,
    handle,
    generation: run.generation,
    history: history.messages,
    places: history.places,
    started: new Set(interrupted.calls.flatMap((call) => (call.state === "started" ? [call.callId] : []))),
    earlier,
    sentByTool: sentBefore(interrupted.messages.map(({ message }) => message)),
  });
}

/** Makes the run and ends it, well or badly. What a failing store leaves is thrown: the journal is the truth then. */
async function loop(options: RunOptions, scope: RunScope): Promise<void> {
  try {
    await work(options, scope);
  } catch (error) {
    if (isStoreFailure(error)) throw error;
    options.logger.error({ run: scope.runId, err: messageOf(error) }, "a run failed inside the gateway");
    const text = failureNote("internal");
    await finish(options, scope, {
      outcome: "failed",
      state: "failed-reported",
      rule: "internal",
      reply: { text, silent: false, note: text },
      end: "failed",
      error: { code: "internal", message: messageOf(error) },
    });
  }
}

async function work(options: RunOptions, scope: RunScope): Promise<void> {
  const { store, lease, live, tracer } = options;
  const { agent, agentModel, sessionKey, runId, tickets } = scope;
  const last = tickets.at(-1);
  if (!last) return;
  live.publish(sessionKey, {
    type: "run.start",
    runId,
    messageIds: tickets.map((ticket) => ticket.stored.event.messageId),
  });

  const tools = await options.toolbox.forRun({
    agent,
    event: last.stored.event,
    role: last.stored.role,
    sessionKey,
    runId,
    messageId: last.id,
    onSent: (text) => scope.sentByTool.push(text),
  });
  for (const ticket of tickets) tools.heard(ticket.stored.event, ticket.stored.role);
  const taint = createTaintMemory(store, `${sessionKey} ${scope.generation}`);
  if (scope.history.length > 0) {
    for (const source of await taint.earlier()) tools.tainted(source);
    // What others said in a group stays in its conversation.
    if (last.stored.event.conversation.kind !== "direct") tools.tainted("history");
  }
  const prompt = await options.prompts.system(agent, agentModel, last, tools.tools);
  const extras = await options.prompts.inbound(last, agentModel);
  if (extras.groupHistory) tools.tainted("history");
  await taint.keep(tools.taint());
  tracer.note(
    last.id,
    "prompt",
    `${prompt.sections.length} sections, ${prompt.system.stable.length} characters before the boundary`,
    {
      sections: prompt.sections.map(({ name, part, chars, tokens }) => ({ name, part, chars, tokens })),
      model: `${agentModel.model.provider}/${agentModel.model.id}`,
      history: scope.history.length,
    },
  );

  const steered: InboxId[] = [];
  const steering = async (): Promise<readonly AgentMessage[]> => {
    const taken = messagesIn(scope.handle.takeSteering());
    if (taken.length === 0) return [];
    tickets.push(...taken);
    steered.push(...taken.map((ticket) => ticket.id));
    for (const ticket of taken) {
      tools.heard(ticket.stored.event, ticket.stored.role);
      tracer.note(ticket.id, "lane", `steers the running turn ${runId}`);
    }
    await taint.keep(tools.taint());
    return options.prompts.userMessages(taken);
  };
  const journal = createJournal({
    store,
    lease,
    runId,
    sessionKey,
    places: scope.places,
    effects: tools.effects,
    takeSteered: () => steered.splice(0),
  });
  const viewer = createViewer({
    live,
    tracer,
    sessionKey,
    runId,
    traced: last.id,
    earlier: scope.earlier,
    now: options.now,
  });

  try {
    const result = await runAgentLoop(
      {
        system: prompt.system,
        history: scope.history,
        tools: tools.tools,
        ...(scope.input === undefined ? {} : { input: scope.input }),
      },
      {
        model: agentModel.model,
        stream: agentModel.stream,
        streamOptions: {
          thinking: agent.thinking,
          sessionId: sessionKey,
          ...(agent.maxOutputTokens === undefined ? {} : { maxOutputTokens: agent.maxOutputTokens }),
        },
        signal: scope.handle.signal,
        limits: agent.limits,
        context: { compaction: { cache: options.compactionCache } },
        steering,
        transformContext: (messages, info) =>
          withContext(messages, contextPlace(messages, info, scope.input), extras),
        beforeToolCall: tools.beforeToolCall,
        onAsk: tools.onAsk,
        onPendingCall: (pending) => pendingDecision(pending, scope.started),
        onStep: journal.onStep,
        now: options.now,
      },
      (event) => {
        viewer.see(event);
        if (event.type === "tool.end") options.hooks.observe("after_tool_call", toolCalled(scope, event));
      },
    );
    if (scope.handle.signal.reason instanceof ShutdownAbort) {
      await journal.flush();
      for (const ticket of tickets)
        tracer.note(ticket.id, "lane", "stopped with the gateway; goes on at the next start");
      return;
    }
    await taint.keep(tools.taint());
    const places = journal.places();
    await conclude(options, scope, result, journal.takeHeld(), viewer.texts());
    if (places) {
      const messages = [...scope.history, ...result.messages];
      options.histories.keep(sessionKey, scope.generation, { messages, places });
    }
  } catch (error) {
    if (!isStoreFailure(error)) await journal.flush();
    throw error;
  } finally {
    tools.end();
  }
}

/**
 * The message that carries the metadata: the last one this run was asked with, or, where it goes on after a restart,
 * the last one a person wrote. Every other message stays as the history keeps it.
 */
function contextPlace(
  messages: readonly AgentMessage[],
  info: TransformInfo,
  input: readonly AgentMessage[] | undefined,
): number {
  return input === undefined
    ? messages.findLastIndex((message) => message.role === "user")
    : info.runStart + input.length - 1;
}

function withContext(
  messages: readonly AgentMessage[],
  place: number,
  extras: InboundExtras,
): readonly AgentMessage[] {
  const message = messages[place];
  if (message?.role !== "user") return messages;
  const { content } = message;
  if (typeof content === "string" && extras.images.length === 0) {
    return messages.with(place, { ...message, content: `${extras.text}\n\n${content}` });
  }
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return messages.with(place, {
    ...message,
    content: [{ type: "text", text: extras.text }, ...extras.images, ...said],
  });
}

/** A call with outside effects that began and has no result is never made again blindly. */
function pendingDecision({ call, tool }: PendingCall, started: ReadonlySet<string>): PendingDecision {
  return started.has(call.id) && (tool === undefined || tool.effects === "external")
    ? { action: "result", result: OUTCOME_UNKNOWN }
    : { action: "run" };
}

const OUTCOME_UNKNOWN: ToolResult = {
  isError: true,
  content: [
    {
      type: "text",
      text: "Outcome unknown: the gateway was restarted while this call ran, so it may or may not have taken effect. Check before you do it again, or ask.",
    },
  ],
};

function toolCalled(
  { agent, sessionKey, runId }: RunScope,
  { call, result, outcome, durationMs }: Extract<AgentEvent, { type: "tool.end" }>,
): AfterToolCall {
  const text = result.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const { id: callId, name: tool, args } = call;
  return { agentId: agent.id, sessionKey, runId, tool, callId, args, outcome, text, durationMs };
}

/** Whether a write to the store is what failed, by itself or inside the loop. */
function isStoreFailure(error: unknown): boolean {
  return error instanceof StoreError || (error instanceof Error && error.cause instanceof StoreError);
}

function fatalIn(error: unknown): StoreError | undefined {
  const failure = error instanceof Error && error.cause instanceof StoreError ? error.cause : error;
  return failure instanceof StoreError && isFatal(failure) ? failure : undefined;
}

/** Texts that the message tool sent to this conversation before the restart. */
function sentBefore(messages: readonly AgentMessage[]): string[] {
  const done = new Set(
    messages.flatMap((message) =>
      message.role === "toolResult" && !message.isError ? [message.toolCallId] : [],
    ),
  );
  return messages.flatMap((message) => {
    if (message.role !== "assistant") return [];
    return message.content.flatMap((block) => {
      if (block.type !== "toolCall" || block.name !== "message" || !done.has(block.id)) return [];
      const { action, target, message: text } = block.args ?? {};
      return action === "send" && target === undefined && typeof text === "string" ? [text] : [];
    });
  });
}

function messagesIn(tickets: readonly Ticket[]): MessageTicket[] {
  return tickets.filter((ticket) => ticket.kind === "message");
}
