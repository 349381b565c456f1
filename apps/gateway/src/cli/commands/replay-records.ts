import type { AgentMessage } from "@signalbox/agent-core";
import type { MessageEvent } from "@signalbox/channel";
import type { RouteExplanation } from "@signalbox/routing";
import type { GatewayRecords, PerformedMessage, PerformedTool } from "@signalbox/testkit/replay";
import type { ServiceStore } from "../../messages/service-store.ts";
import { readTrace } from "../../messages/traces.ts";

/** Page size. A scenario has fewer records of each kind. */
const LIMIT = 1_000;
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

/** Reads the records of a replayed scenario, with the reasons for each route. */
export async function readRecords(
  store: ServiceStore,
  explainRoute: (event: MessageEvent) => RouteExplanation,
): Promise<GatewayRecords> {
  const outbox = (await store.outbox.list({ states: STATES, limit: LIMIT })).toReversed();
  const sessions = await store.sessions.list();
  const transcripts = await Promise.all(sessions.map(({ key }) => store.sessions.transcript(key)));
  return {
    messages: await readMessages(store, explainRoute),
    tools: transcripts.flatMap((rows) => toolsIn(rows.map(({ message }) => message).toReversed())),
    outbox: outbox.map(({ id, key, state, channel, address, payload, receipts }) => ({
      id,
      key,
      state,
      channel,
      address,
      payload,
      receipts,
    })),
  };
}

async function readMessages(
  store: ServiceStore,
  explainRoute: (event: MessageEvent) => RouteExplanation,
): Promise<PerformedMessage[]> {
  const rows = (await store.inbox.list({ limit: LIMIT })).toSorted((a, b) => a.seq - b.seq);
  const messages: PerformedMessage[] = [];
  for (const { id, messageId = id, state, payload, detail, route } of rows) {
    const trace = await readTrace(store, id);
    messages.push({
      id: messageId,
      state,
      inbound: payload.event,
      route: explainRoute(payload.event),
      rule: detail?.rule === undefined ? undefined : detail.rule,
      agent: route?.agentId,
      sessionKey: route?.sessionKey,
      trace: trace?.entries ?? [],
    });
  }
  return messages;
}

/** Returns the tool calls of a transcript with their results, oldest first. */
function toolsIn(transcript: readonly AgentMessage[]): PerformedTool[] {
  const args = new Map<string, unknown>();
  return transcript.flatMap((message): PerformedTool[] => {
    if (message.role === "assistant") {
      for (const block of message.content)
        if (block.type === "toolCall") args.set(block.id, block.args ?? block.argsText);
    }
    if (message.role !== "toolResult") return [];
    const { toolName: name, toolCallId, isError, content, details } = message;
    const text = content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
    return [{ name, args: args.get(toolCallId), isError, text, details }];
  });
}
