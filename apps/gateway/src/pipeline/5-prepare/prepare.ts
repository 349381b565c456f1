import { textOf, toolSpec } from "@signalbox/agent-core";
import type { Incoming, MediaForModel } from "@signalbox/attachments";
import { speakerOf } from "@signalbox/channel";
import type { RunMemory } from "@signalbox/memory/agents";
import {
  type BuiltPrompt,
  type ContextDocument,
  isEditsKey,
  type MessageContexts,
  mediaMark,
  type PrefixLook,
  type PrefixWatch,
} from "@signalbox/prompt";
import type { LiveHub } from "@signalbox/server";
import type { ToldEntry } from "@signalbox/store";
import { packSections } from "@signalbox/telemetry";
import { createSessionTaint, type SessionTaint } from "@signalbox/tools";
import type { ReadLinks } from "../../agent/links.ts";
import type { Spending } from "../../agent/spending.ts";
import type { PromptedTurn } from "../../agent/system-prompt.ts";
import type { GatewayStore } from "../../store.ts";
import type { RunTools, Toolbox } from "../../tools/toolbox.ts";
import type { Tracer } from "../../traces.ts";
import type { Standing } from "../2-admit/standing.ts";
import { isHeard, type QueuedMessage, spokenText } from "../4-queue/message.ts";
import { earlierPictures } from "./earlier-pictures.ts";
import { filesOf } from "./files-of.ts";
import { historyImages, withHistoryImages } from "./history-images.ts";
import { groupHistoryOf } from "./inbound-context.ts";
import type { OpenedRun } from "./opened-run.ts";
import { openContexts } from "./run-contexts.ts";

export interface PreparePorts {
  readonly store: Pick<GatewayStore, "sessions" | "groupHistory" | "contexts">;
  readonly toolbox: Pick<Toolbox, "forRun">;
  readonly standing: Standing;
  readonly readLinks: ReadLinks;
  readonly incoming: Pick<Incoming, "show">;
  readonly remember: RunMemory;
  readonly spending: Pick<Spending, "cheaperModels">;
  readonly prefixes: PrefixWatch;
  readonly systemPrompt: (turn: PromptedTurn) => Promise<BuiltPrompt>;
  readonly live: Pick<LiveHub, "publish">;
  readonly tracer: Tracer;
}

/** A run with all that its model calls need. */
export interface PreparedRun extends OpenedRun {
  /** The last of its messages when it began. */
  readonly asked: QueuedMessage;
  readonly system: BuiltPrompt["system"];
  readonly tools: RunTools;
  readonly taint: SessionTaint;
  readonly contexts: MessageContexts;
  /** What the model is told of the group's history. It is forgotten there with the end of the run. */
  readonly told: readonly ToldEntry[];
}

/** Gives a run its tools, what its messages carry, and its system prompt. */
export type Prepare = (run: OpenedRun, asked: QueuedMessage) => Promise<PreparedRun>;

export function createPrepare(ports: PreparePorts): Prepare {
  return async (run, asked) => {
    const answers = run.messages.map(({ stored }) => stored.event.messageId);
    ports.live.publish(run.sessionKey, { type: "run.start", runId: run.runId, answers });
    const tools = await toolsFor(ports, run, asked);
    try {
      const taint = await taintedBefore(ports, run, tools);
      return await withContext(ports, run, asked, { tools, taint });
    } catch (error) {
      tools.end();
      throw error;
    }
  };
}

/** Whatever fails from here on, what others said here stands in the history already. */
async function taintedBefore(
  { store }: PreparePorts,
  run: OpenedRun,
  tools: RunTools,
): Promise<SessionTaint> {
  for (const message of run.messages) hear(tools, message);
  const { sessionKey: key, generation, sessionData: data } = run;
  const taint = createSessionTaint(store.sessions, { key, generation, data });
  taintByHistory(run, tools, taint);
  await taint.keep({ sources: tools.taint(), speakers: speakersOf(run.messages) });
  return taint;
}

/** Reads what the model is told in addition to the messages, and builds its prompt. */
async function withContext(
  ports: PreparePorts,
  run: OpenedRun,
  asked: QueuedMessage,
  { tools, taint }: Pick<PreparedRun, "tools" | "taint">,
): Promise<PreparedRun> {
  const { agent, agentModel, sessionKey, messages } = run;
  const pages = await readPages(ports, run, tools);
  const told = isHeard(asked) ? await groupHistoryOf(ports.store.groupHistory, asked) : [];
  if (told.some((entry) => isOfOthers(entry, asked))) tools.addTaint("history");
  const media = await showMedia(ports.incoming, run, asked, told);
  const earlier = await earlierPictures(ports.incoming, run);
  if ([...media, ...earlier].some(({ untrusted }) => untrusted)) tools.addTaint("file");
  const role = tools.role();
  const besides = await openContexts(ports.store.contexts, run, role);
  const memory = await ports.remember({
    agent,
    sessionKey,
    role,
    speaker: onlySpeaker(messages),
    places: run.places,
    text: messages.map(spokenText).join("\n"),
    isInPrompt: (line) => besides.isTold(line),
  });
  if (memory.untrusted) tools.addTaint("memory");
  const prompt = await ports.systemPrompt({
    agent,
    agentModel,
    sessionKey,
    event: asked.stored.event,
    isSubAgent: !isHeard(asked),
    role,
    tools: tools.tools,
    pages,
    files: media.flatMap(({ files }) => files),
    memory: memory.sections,
    answers: run.history.filter(({ role }) => role === "user").length,
    opening: openingOf(run),
  });
  // What is kept beside a message must not outlive what is known of where it comes from.
  await taint.keep({ sources: tools.taint(), speakers: [] });
  const { recalled, forOwner } = memory;
  const contexts = await besides.keep({ pages, media, told, memory: recalled, forOwner });
  for (const { message, ...context } of earlier) contexts.add(message, context);
  const prefix = await ports.prefixes.look(sessionKey, prompt.sections, tools.tools.map(toolSpec));
  traceOf(ports.tracer, run, asked, { ...prompt, ...prefix });
  return { ...run, asked, system: prompt.system, tools, taint, contexts, told };
}

/** Whether someone else wrote it. Edits are in the words of whoever wrote the message. */
function isOfOthers({ conversation, senderId }: ToldEntry, { stored }: QueuedMessage): boolean {
  return !isEditsKey(conversation) || senderId !== stored.event.sender.id;
}

/** The media of each message. The last one also has the images of the group's messages before it. */
async function showMedia(
  incoming: PreparePorts["incoming"],
  { messages, agentModel }: OpenedRun,
  asked: QueuedMessage,
  told: readonly ToldEntry[],
): Promise<readonly MediaForModel[]> {
  const history = historyImages(told, asked);
  const files = [...messages.map(filesOf), ...(history === undefined ? [] : [history])];
  const shown = await incoming.show(files, agentModel.model.input);
  const earlier = history === undefined ? undefined : shown.at(-1);
  const media = shown.slice(0, messages.length);
  const last = media.at(-1);
  if (earlier === undefined || last === undefined) return media;
  return media.with(-1, withHistoryImages(last, earlier));
}

/** Stays the same from turn to turn, as what is chosen by it must. */
function openingOf({ history, input = [] }: OpenedRun): string {
  const first = [...history, ...input].find(({ role }) => role === "user");
  return first?.role === "user" ? textOf(first.content) : "";
}

/** All that may answer in a run. */
function modelsOf({ agent, agentModel: { model } }: OpenedRun, spending: PreparePorts["spending"]) {
  return [`${model.provider}/${model.id}`, ...agent.fallbacks, ...spending.cheaperModels()];
}

function toolsFor(
  { toolbox, standing, spending }: PreparePorts,
  run: OpenedRun,
  { id: messageId, stored: { event, role, wake } }: QueuedMessage,
): Promise<RunTools> {
  const { agent, sessionKey, runId, sentByTool, messages } = run;
  return toolbox.forRun({
    agent,
    event,
    role,
    speaker: speakerOf(event),
    sessionKey,
    runId,
    messageId,
    // Those that join the run are among its messages.
    getCurrentRights: () => standing(agent.id, messages),
    onSent: (text, sent) => void sentByTool.push(text, ...sent.map(mediaMark)),
    models: modelsOf(run, spending),
    ...(wake === undefined ? {} : { wake }),
  });
}

/** What a model has written brings along what its run had seen, and gives no addresses. */
function hear(tools: RunTools, { stored: { event, role, wake } }: QueuedMessage): void {
  const { delegated } = wake ?? {};
  tools.addMessage(delegated === undefined ? event : { text: "" }, role, speakerOf(event));
  for (const source of delegated?.taint ?? []) tools.addTaint(source);
}

/** What stands in the history from earlier runs, and what others have said there, is not the speaker's word. */
function taintByHistory({ history, messages }: OpenedRun, tools: RunTools, { earlier }: SessionTaint): void {
  if (history.length === 0) return;
  for (const source of earlier.sources) tools.addTaint(source);
  const speaking = new Set(messages.map(({ stored }) => speakerOf(stored.event)));
  const isAlone = earlier.speakers.every((speaker) => speaking.size === 1 && speaking.has(speaker));
  if (!isAlone) tools.addTaint("history");
}

/** Who else than owners speaks in messages: their words are not the owner's. */
/** Returns the id of the person who wrote all messages, if it is one person. */
function onlySpeaker(messages: readonly QueuedMessage[]): string | undefined {
  const speakers = new Set(
    messages.map(({ stored }) => (stored.wake === undefined ? speakerOf(stored.event) : undefined)),
  );
  const [speaker] = speakers;
  return speakers.size === 1 ? speaker : undefined;
}

export function speakersOf(messages: readonly QueuedMessage[]): readonly string[] {
  return messages.flatMap(({ stored: { role, event } }) =>
    // The gateway by itself speaks for owners alone.
    role === "owner" || role === "system" ? [] : [speakerOf(event)],
  );
}

async function readPages(
  { readLinks }: PreparePorts,
  { messages, handle }: OpenedRun,
  tools: RunTools,
): Promise<readonly ContextDocument[]> {
  // Guests may not use the web, and what a model has written gives no addresses.
  const written = messages.filter(
    ({ stored: { role, wake } }) => role !== "guest" && wake?.delegated === undefined,
  );
  const pages = await readLinks(written.map(spokenText), handle.signal);
  for (const { text } of pages) {
    if (text === undefined) continue;
    tools.addLinks(text);
    tools.addTaint("web");
  }
  return pages;
}

function traceOf(
  tracer: Tracer,
  { agentModel, history }: OpenedRun,
  { id }: QueuedMessage,
  { sections, system, tools, digest, drift }: BuiltPrompt & PrefixLook,
): void {
  const { provider, id: model, prices } = agentModel.model;
  const size = `${sections.length} sections, ${system.stable.length} characters before the boundary`;
  const changed =
    drift === undefined ? "" : `; not as before: ${drift.section} ${drift.change} at byte ${drift.byte}`;
  tracer.note(id, "prompt", `${size}, digest ${digest}${changed}`, {
    digest,
    ...(drift === undefined ? {} : { drift: { ...drift } }),
    sections: packSections([tools, ...sections]),
    model: `${provider}/${model}`,
    ...(prices === undefined
      ? {}
      : { prices: { input: prices.input, cacheRead: prices.cacheRead ?? prices.input } }),
    history: history.length,
  });
}
