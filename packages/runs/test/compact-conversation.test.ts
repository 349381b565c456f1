import type { AgentMessage } from "@signalbox/agent-core";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, userMessage } from "@signalbox/agent-core/test";
import { expect, it } from "vitest";
import { compactConversation, createHistories } from "../src/index.ts";
import { openRuns } from "./open-runs.ts";

const KEY = "agent:main:plain:direct:anna";
function talk(turns: number): AgentMessage[] {
  return Array.from({ length: turns }, (_, index): AgentMessage[] => [
    userMessage(`question ${index} ${"x".repeat(400)}`),
    assistantMessage(`answer ${index}`),
  ]).flat();
}

async function conversation(messages: readonly AgentMessage[]) {
  const { store, lease, append } = await openRuns();
  await append(KEY, messages);
  const histories = createHistories(store.sessions);
  const { stream } = scriptedModel("In short.");
  const session = { generation: 0, lastSeq: messages.length };
  const compacted = (signal?: AbortSignal) =>
    compactConversation(
      { sessions: store.sessions, histories, lease },
      {
        sessionKey: KEY,
        session,
        model: SCRIPTED_MODEL,
        stream,
        signal,
      },
    );
  return { store, compacted };
}

it("replaces the older part by a summary and keeps the newest messages", async () => {
  const messages = talk(12);
  const { store, compacted } = await conversation(messages);
  const done = await compacted();
  expect(done?.tokensLeft).toBeLessThan(done?.tokens ?? 0);
  expect(done).toMatchObject({ messages: 24, source: "model", used: { turns: 1 } });
  const history = (await store.sessions.history(KEY)).map(({ message }) => message);
  expect(history[0]).toMatchObject({ role: "compactionSummary", replaced: done?.replaced });
  expect(history.slice(1)).toEqual(messages.slice(done?.replaced));
});

it("changes nothing if there is nothing to gain or the signal aborts", async () => {
  expect(await (await conversation([])).compacted()).toBeUndefined();
  const { store, compacted } = await conversation(talk(12));
  expect(await compacted(AbortSignal.abort())).toBeUndefined();
  expect(await store.sessions.history(KEY)).toHaveLength(24);
});
