import {
  type AgentEvent,
  type AgentMessage,
  type Model,
  type PendingCall,
  type PendingDecision,
  runAgentLoop,
  type StreamOptions,
  type ToolResult,
  type TransformInfo,
} from "@signalbox/agent-core";
import { isUntrusted } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import { type InboxId, type RunId, StoreError } from "@signalbox/store";
import type { Agent } from "../../agents.ts";
import { messageOf } from "../../errors.ts";
import type { AfterToolCall } from "../../hooks/points.ts";
import { filesOf } from "../../media.ts";
import type { AgentModel } from "../../models.ts";
import { packed } from "../../trace/tracer.ts";
import { type MessageTicket, messagesIn, type Ticket } from "../4-queue/message.ts";
import { jsonParameters } from "../5-prepare/json-answer.ts";
import type { RunOptions } from "../5-prepare/open-run.ts";
import type { InboundExtras } from "../5-prepare/prompt.ts";
import { createTaintMemory } from "../5-prepare/taint.ts";
import { carriesMedia, conclude, failureNote, finish } from "../7-conclude/conclude.ts";
import { ShutdownAbort } from "../shutdown.ts";
import { createJournal, type RunTail } from "./journal.ts";
import { createViewer } from "./viewer.ts";

/** What one run is about. */
export interface RunScope {
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

/** Makes the run and ends it, well or badly. What a failing store leaves is thrown: the journal is the truth then. */
export async function makeTurn(options: RunOptions, scope: RunScope): Promise<void> {
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
    answers: tickets.map((ticket) => ticket.stored.event.messageId),
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
  const taint = createTaintMemory(store, scope);
  if (scope.history.length > 0) {
    for (const source of await taint.earlier()) tools.tainted(source);
    // What others said in a group stays in its conversation.
    if (last.stored.event.conversation.kind !== "direct") tools.tainted("history");
  }
  const pages = await options.links.read(tickets, scope.handle.signal);
  for (const { text } of pages) {
    if (text === undefined) continue;
    tools.given(text);
    tools.tainted("web");
  }
  const shown = await options.mediaIn.show(tickets.map(filesOf), agentModel.model.input);
  const media = {
    blocks: shown.flatMap(({ blocks }) => blocks),
    files: shown.flatMap(({ files }) => files),
  };
  if (shown.some(({ untrusted }) => untrusted)) tools.tainted("file");
  const prompt = await options.metrics.timed("prepare", () =>
    options.prompts.system(agent, agentModel, last, tools.tools, { pages, media }),
  );
  const extras = await options.prompts.inbound(last, { pages, media });
  if (extras.told) tools.tainted("history");
  await taint.keep(tools.taint());
  tracer.note(
    last.id,
    "prompt",
    `${prompt.sections.length} sections, ${prompt.system.stable.length} characters before the boundary`,
    {
      sections: packed(prompt.sections),
      model: `${agentModel.model.provider}/${agentModel.model.id}`,
      history: scope.history.length,
    },
  );

  const steered: MessageTicket[] = [];
  /** What the model was told and would answer. */
  let heard: readonly MessageTicket[] = [...tickets];
  const steering = async (): Promise<readonly AgentMessage[]> => {
    const joining = scope.handle.takeSteering();
    const short = messagesIn(joining.summarised);
    const taken = messagesIn(joining.items);
    const joined = [...short, ...taken];
    const gone = heard.filter(({ id }) => scope.handle.recalled.has(id));
    heard = [...heard.filter((ticket) => !gone.includes(ticket)), ...joined];
    const notes = gone.length > 0 ? [options.prompts.takenBack(gone)] : [];
    if (joined.length === 0) return notes;
    tickets.push(...joined);
    steered.push(...joined);
    for (const ticket of joined) {
      tools.heard(ticket.stored.event, ticket.stored.role);
      if ((await options.mediaIn.take(filesOf(ticket))).some(isUntrusted)) tools.tainted("file");
      tracer.note(ticket.id, "lane", `steers the running turn ${runId}`);
    }
    await taint.keep(tools.taint());
    const spoken = await options.prompts.userMessages(taken);
    return [...notes, ...(short.length > 0 ? [options.prompts.summary(short)] : []), ...spoken];
  };
  /** What steers the run and was not deleted before it became the run's. */
  const takeSteered = (): readonly InboxId[] => {
    const ids: InboxId[] = [];
    for (const ticket of steered.splice(0)) {
      if (!scope.handle.recalled.has(ticket.id)) ids.push(ticket.id);
      else tickets.splice(tickets.indexOf(ticket), 1);
    }
    return ids;
  };
  const asking = options.askings.of(runId, scope.handle);
  const journal = createJournal({
    store,
    lease,
    runId,
    sessionKey,
    places: scope.places,
    effects: tools.effects,
    takeSteered,
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

  const draft = options.drafts.watch({
    runId,
    event: last.stored.event,
    signal: scope.handle.signal,
    visible: () => viewer.visible(scope.sentByTool, carriesMedia(options, tickets)),
    standing: () => viewer.visible(scope.sentByTool),
  });
  const isShown = (): boolean => live.watched(sessionKey) || options.drafts.isShown(runId);
  const written = options.typing.begin(runId, last.stored.event, scope.input === undefined);

  const watchModel = options.metrics.watchModel(`${agentModel.model.provider}/${agentModel.model.id}`);
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
          // An answer that broke off is asked for again as long as nobody has seen any of it.
          shown: isShown,
          ...samplingOf(agent, agentModel.model, last.stored.event),
        },
        signal: scope.handle.signal,
        limits: agent.limits,
        context: { compaction: { cache: options.compactionCache } },
        steering,
        transformContext: (messages, info) =>
          withContext(messages, contextPlace(messages, info, scope.input), extras),
        beforeToolCall: tools.beforeToolCall,
        onAsk: (info) => asking.during(() => tools.onAsk(info)),
        onPendingCall: (pending) => pendingDecision(pending, scope.started),
        async onStep(step) {
          // A result must not be on record before what it brought in is: the run may go on in another process.
          if (step.kind === "toolResult") await taint.keep(tools.taint());
          await asking.onStep(step);
          return journal.onStep(step);
        },
        now: options.now,
      },
      (event) => {
        viewer.see(event);
        watchModel(event);
        if (event.type === "text.delta" || event.type === "message") draft?.();
        if (event.type === "tool.end") options.hooks.observe("after_tool_call", toolCalled(scope, event));
      },
    );
    // Only a stop of the gateway leaves a question open.
    if (scope.handle.signal.reason instanceof ShutdownAbort || result.reason === "waiting") {
      await journal.flush();
      for (const ticket of tickets)
        tracer.note(ticket.id, "lane", "stopped with the gateway; goes on at the next start");
      return;
    }
    await taint.keep(tools.taint());
    const tail = isShown() ? await journal.end() : withoutBroken(await journal.end());
    const ended = { ...scope, told: extras.told, mayAttach: tools.mayAttach };
    await options.metrics.timed("conclude", () =>
      conclude(options, ended, result, tail.messages, viewer.texts()),
    );
    const { places } = tail;
    if (places) {
      const messages = [...scope.history, ...result.messages];
      options.histories.keep(sessionKey, scope.generation, { messages, places });
    }
  } catch (error) {
    if (!isStoreFailure(error)) await journal.flush();
    throw error;
  } finally {
    written();
    journal.close();
    tools.end();
  }
}

/**
 * What a run leaves, without the half of an answer that broke off and that nobody has seen: in the history it would
 * stand as something that was said.
 */
function withoutBroken(tail: RunTail): RunTail {
  const last = tail.messages.at(-1);
  const isBroken = last?.role === "assistant" && last.stopReason === "error";
  return isBroken ? { messages: tail.messages.slice(0, -1), places: undefined } : tail;
}

/** How the model is to write: as its agent is set up, and as the client of this turn wants. */
function samplingOf({ maxOutputTokens: most }: Agent, model: Model, { turn }: MessageEvent): StreamOptions {
  const { temperature, maxOutputTokens: wanted, stopSequences, json } = turn?.sampling ?? {};
  const extra = json === undefined ? undefined : jsonParameters(model.api, json);
  const limits = [most, wanted].filter((limit) => limit !== undefined);
  return {
    ...(limits.length === 0 ? {} : { maxOutputTokens: Math.min(...limits) }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(stopSequences === undefined ? {} : { stopSequences }),
    ...(extra === undefined ? {} : { extra }),
  };
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
  if (typeof content === "string" && extras.blocks.length === 0) {
    return messages.with(place, { ...message, content: `${extras.text}\n\n${content}` });
  }
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return messages.with(place, {
    ...message,
    content: [{ type: "text", text: extras.text }, ...extras.blocks, ...said],
  });
}

/**
 * A call with outside effects that began and has no result is never made again blindly. A message that it sends has
 * a key of its call: made again, it is the same message.
 */
function pendingDecision({ call, tool }: PendingCall, started: ReadonlySet<string>): PendingDecision {
  const sends = tool?.name === "message" && call.args?.["action"] === "send";
  return started.has(call.id) && !sends && (tool === undefined || tool.effects === "external")
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
