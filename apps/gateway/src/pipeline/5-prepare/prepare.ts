import { getToolSpec, textOf } from "@signalbox/agent-core";
import type { MediaForModel } from "@signalbox/attachments";
import { getSpeakerKey } from "@signalbox/channel";
import {
  type BuiltPrompt,
  type ContextDocument,
  getMediaMark,
  isEditsKey,
  type MessageContexts,
  type PrefixReport,
} from "@signalbox/prompt";
import type { ToldEntry } from "@signalbox/store";
import { packSections } from "@signalbox/telemetry";
import { createSessionTaint, type SessionTaint } from "@signalbox/tools";
import type { RunTools } from "../../agent/toolbox.ts";
import type { GatewayContext } from "../../context.ts";
import { getPlainText, isVisible, type QueuedMessage } from "../../messages/queued-message.ts";
import type { Tracer } from "../../tracer.ts";
import { getCurrentRights } from "../2-admit/current-rights.ts";
import { getEarlierImages } from "./earlier-images.ts";
import { historyImages, withHistoryImages } from "./history-images.ts";
import { readGroupHistory } from "./inbound-context.ts";
import { getMessageFiles } from "./message-files.ts";
import type { OpenedRun } from "./opened-run.ts";
import { openContexts } from "./run-contexts.ts";

/** A run with everything required for its model calls. */
export interface PreparedRun extends OpenedRun {
  /** The last message of the run when it started. */
  readonly asked: QueuedMessage;
  readonly system: BuiltPrompt["system"];
  readonly tools: RunTools;
  readonly taint: SessionTaint;
  readonly contexts: MessageContexts;
  /** Group history shown to the model. It is removed from the store when the run ends. */
  readonly told: readonly ToldEntry[];
}

/** Adds the tools, the message contents and the system prompt to a run. */
export async function prepare(
  ctx: GatewayContext,
  run: OpenedRun,
  asked: QueuedMessage,
): Promise<PreparedRun> {
  const answers = run.messages.map(({ stored }) => stored.event.messageId);
  // A resumed run has no new input.
  if (run.input === undefined) ctx.live.keepResumed(run.sessionKey, run.runId);
  ctx.live.publish(run.sessionKey, { type: "run.start", runId: run.runId, answers });
  const tools = await toolsFor(ctx, run, asked);
  try {
    const taint = await taintedBefore(ctx, run, tools);
    return await withContext(ctx, run, asked, { tools, taint });
  } catch (error) {
    tools.end();
    throw error;
  }
}

/** Records the taint of the messages before anything can fail, because they are already in the history. */
async function taintedBefore(
  { store }: GatewayContext,
  run: OpenedRun,
  tools: RunTools,
): Promise<SessionTaint> {
  for (const message of run.messages) readMessageContent(tools, message);
  const { sessionKey: key, generation, sessionData: data } = run;
  const taint = createSessionTaint(store.sessions, { key, generation, data });
  taintByHistory(run, tools, taint);
  await taint.add({ sources: tools.taint(), speakers: getUntrustedSpeakers(run.messages) });
  return taint;
}

/** Reads pages, media and memory, and builds the prompt. */
async function withContext(
  ctx: GatewayContext,
  run: OpenedRun,
  asked: QueuedMessage,
  { tools, taint }: Pick<PreparedRun, "tools" | "taint">,
): Promise<PreparedRun> {
  const { agent, agentModel, sessionKey, messages } = run;
  const pages = await readPages(ctx, run, tools);
  const told = isVisible(asked) ? await readGroupHistory(ctx.store.groupHistory, asked) : [];
  if (told.some((entry) => isOfOthers(entry, asked))) tools.addTaint("history");
  const media = await showMedia(ctx, run, asked, told);
  const earlier = await getEarlierImages(ctx.media.in, run);
  if ([...media, ...earlier].some(({ untrusted }) => untrusted)) tools.addTaint("file");
  const role = tools.role();
  const besides = await openContexts(ctx.store.contexts, run, role);
  const memory = await ctx.recall({
    agent,
    sessionKey,
    role,
    speaker: onlySpeaker(messages),
    places: run.seqs,
    text: messages.map(getPlainText).join("\n"),
    isInPrompt: (line) => besides.hasLine(line),
  });
  if (memory.untrusted) tools.addTaint("memory");
  const prompt = await ctx.buildSystemPrompt({
    agent,
    agentModel,
    sessionKey,
    event: asked.stored.event,
    isSubAgent: !isVisible(asked),
    role,
    tools: tools.tools,
    pages,
    files: media.flatMap(({ files }) => files),
    memory: memory.sections,
    answers: run.history.filter(({ role }) => role === "user").length,
    opening: getFirstUserText(run),
  });
  // Store the taint before the content that it describes.
  await taint.add({ sources: tools.taint(), speakers: [] });
  const { recalled, forOwner } = memory;
  const contexts = await besides.keep({ pages, media, told, memory: recalled, forOwner });
  for (const { message, ...context } of earlier) contexts.add(message, context);
  const prefix = await ctx.prefixes.check(sessionKey, prompt.sections, tools.tools.map(getToolSpec));
  tracePrompt(ctx.tracer, run, asked, { ...prompt, ...prefix });
  return { ...run, asked, system: prompt.system, tools, taint, contexts, told };
}

/** Returns true if another person wrote the entry. The author of an edit is the author of the edited message. */
function isOfOthers({ conversation, senderId }: ToldEntry, { stored }: QueuedMessage): boolean {
  return !isEditsKey(conversation) || senderId !== stored.event.sender.id;
}

/** Returns the media of each message. The last one also has the images of the group's earlier messages. */
async function showMedia(
  ctx: GatewayContext,
  { messages, agentModel }: OpenedRun,
  asked: QueuedMessage,
  told: readonly ToldEntry[],
): Promise<readonly MediaForModel[]> {
  const history = historyImages(told, asked);
  const files = [
    ...messages.map((message) => getMessageFiles(ctx, message)),
    ...(history === undefined ? [] : [history]),
  ];
  const shown = await ctx.media.in.show(files, agentModel.model.input);
  const earlier = history === undefined ? undefined : shown.at(-1);
  const media = shown.slice(0, messages.length);
  const last = media.at(-1);
  if (earlier === undefined || last === undefined) return media;
  return media.with(-1, withHistoryImages(last, earlier));
}

/** Returns the first user message. It is the same in every turn, so choices that depend on it also stay the same. */
function getFirstUserText({ history, input = [] }: OpenedRun): string {
  const first = [...history, ...input].find(({ role }) => role === "user");
  return first?.role === "user" ? textOf(first.content) : "";
}

/** Returns all models that may answer in a run. */
function getModelNames({ agent, agentModel: { model } }: OpenedRun, spending: GatewayContext["spending"]) {
  return [`${model.provider}/${model.id}`, ...agent.fallbacks, ...spending.cheaperModels()];
}

function toolsFor(
  ctx: GatewayContext,
  run: OpenedRun,
  { id: messageId, stored: { event, role, trigger } }: QueuedMessage,
): Promise<RunTools> {
  const { agent, sessionKey, runId, sentByTool, messages } = run;
  return ctx.toolbox.forRun({
    agent,
    event,
    role,
    speaker: getSpeakerKey(event),
    sessionKey,
    runId,
    messageId,
    // Includes messages that join the run later.
    getCurrentRights: () => getCurrentRights(ctx, agent.id, messages),
    onSent: (text, sent) => void sentByTool.push(text, ...sent.map(getMediaMark)),
    models: getModelNames(run, ctx.spending),
    trigger,
  });
}

/**
 * Reads the content of a message. A delegated message has the taint of the run that wrote it, and its links are not
 * fetched.
 */
function readMessageContent(tools: RunTools, { stored: { event, role, trigger } }: QueuedMessage): void {
  const { delegated } = trigger ?? {};
  tools.addMessage(delegated === undefined ? event : { text: "" }, role, getSpeakerKey(event));
  for (const source of delegated?.taint ?? []) tools.addTaint(source);
}

/** Taints the run with earlier content of the session and with other people who spoke in it. */
function taintByHistory({ history, messages }: OpenedRun, tools: RunTools, { earlier }: SessionTaint): void {
  if (history.length === 0) return;
  for (const source of earlier.sources) tools.addTaint(source);
  const speaking = new Set(messages.map(({ stored }) => getSpeakerKey(stored.event)));
  const isAlone = earlier.speakers.every((speaker) => speaking.size === 1 && speaking.has(speaker));
  if (!isAlone) tools.addTaint("history");
}

/** Returns the id of the person who wrote all messages, if there is only one. */
function onlySpeaker(messages: readonly QueuedMessage[]): string | undefined {
  const speakers = new Set(
    messages.map(({ stored }) => (stored.trigger === undefined ? getSpeakerKey(stored.event) : undefined)),
  );
  const [speaker] = speakers;
  return speakers.size === 1 ? speaker : undefined;
}

/** Returns the authors of messages who are not owners. */
export function getUntrustedSpeakers(messages: readonly QueuedMessage[]): readonly string[] {
  return messages.flatMap(({ stored: { role, event } }) =>
    // Only owners cause the gateway to send messages itself.
    role === "owner" || role === "system" ? [] : [getSpeakerKey(event)],
  );
}

async function readPages(
  { readLinks }: GatewayContext,
  { messages, handle }: OpenedRun,
  tools: RunTools,
): Promise<readonly ContextDocument[]> {
  // Guests may not use the web, and text written by a model must not choose URLs.
  const written = messages.filter(
    ({ stored: { role, trigger } }) => role !== "guest" && trigger?.delegated === undefined,
  );
  const pages = await readLinks(written.map(getPlainText), handle.signal);
  for (const { text } of pages) {
    if (text === undefined) continue;
    tools.addLinks(text);
    tools.addTaint("web");
  }
  return pages;
}

function tracePrompt(
  tracer: Tracer,
  { agentModel, history }: OpenedRun,
  { id }: QueuedMessage,
  { sections, system, tools, digest, drift }: BuiltPrompt & PrefixReport,
): void {
  const { provider, id: model, prices } = agentModel.model;
  const size = `${sections.length} sections, ${system.stable.length} characters before the boundary`;
  const changed =
    drift === undefined ? "" : `; the prefix changed: ${drift.section} ${drift.change} at byte ${drift.byte}`;
  tracer.note(id, "prepare", `${size}, digest ${digest}${changed}`, {
    digest,
    drift: drift && { ...drift },
    sections: packSections([tools, ...sections]),
    model: `${provider}/${model}`,
    prices: prices && { input: prices.input, cacheRead: prices.cacheRead ?? prices.input },
    history: history.length,
  });
}
