import {
  type AgentMessage,
  type AssistantMessage,
  defineTool,
  type ToolResultMessage,
} from "@signalbox/agent-core";
import { assistantMessage, SCRIPTED_MODEL, scriptedModel, toolCall } from "@signalbox/agent-core/test";
import type { LeaseToken } from "@signalbox/store/types";
import { expect, it } from "vitest";
import { createWaitingRuns, type DurableRun, runDurably } from "../src/index.ts";
import { openRuns } from "./open-runs.ts";

type Answer = string | AssistantMessage;

const KEY = "ann";
const QUESTION: AgentMessage = { role: "user", content: "Send it.", timestamp: 1 };

function sender(send: () => string | Promise<string>) {
  const input = { type: "object", properties: {} } as const;
  return defineTool({ name: "send", description: "Sends it.", input, effects: "external", execute: send });
}

/** A run of one question, and `process`, which continues it under a lease with scripted answers. */
async function harness() {
  const memory = await openRuns();
  const { store } = memory;
  const runId = await memory.begin(KEY, [QUESTION]);
  const process = (
    lease: LeaseToken,
    tools: DurableRun["context"]["tools"],
    answers: readonly Answer[],
  ): DurableRun => ({
    context: { system: { stable: "" }, history: [], input: [QUESTION], tools },
    config: { model: SCRIPTED_MODEL, stream: scriptedModel(...answers).stream },
    journal: {
      store,
      lease,
      runId,
      sessionKey: KEY,
      seqs: [1],
      effects: () => "external",
    },
  });
  const roles = async () => (await store.sessions.history(KEY)).map(({ message }) => message.role);
  return { memory, store, OLD: memory.lease, runId, process, roles };
}

it("returns its last turn for the commit of its end and records everything else", async () => {
  const { process, roles, OLD } = await harness();
  const answers = [assistantMessage([toolCall("1", "send", {})]), "It is sent."] as const;
  const ended = await runDurably(process(OLD, [sender(() => "sent")], answers), () => {});
  expect(ended?.result.text).toBe("It is sent.");
  expect(await roles()).toEqual(["user", "assistant", "toolResult"]);
  expect(ended?.tail).toMatchObject({ messages: [{ role: "assistant" }], seqs: [1, 2, 3, 4] });
});

it("records the call that a person is asked about before asking", async () => {
  const { process, roles, OLD } = await harness();
  const run = process(OLD, [sender(() => "sent")], [assistantMessage([toolCall("1", "send", {})]), "Done."]);
  let whenAsked: readonly string[] = [];
  const config: DurableRun["config"] = {
    ...run.config,
    beforeToolCall: () => ({ action: "ask", question: "May it?" }),
    async onAsk() {
      whenAsked = await roles();
      return { action: "allow" };
    },
  };
  await runDurably({ ...run, config }, () => {});
  expect(whenAsked).toEqual(["user", "assistant"]);
});

it("records a call before it takes effect, unless it may be repeated under another id", async () => {
  for (const [effects, whenCalled] of [
    ["idempotent", ["user"]],
    ["keyed", ["user", "assistant"]],
    ["external", ["user", "assistant"]],
  ] as const) {
    const { process, roles, OLD } = await harness();
    const found: string[] = [];
    const note = defineTool({
      name: "send",
      description: "Sends it.",
      input: { type: "object", properties: {} },
      effects,
      async execute() {
        found.push(...(await roles()));
        return "sent";
      },
    });
    const run = process(OLD, [note], [assistantMessage([toolCall("1", "send", {})]), "Done."]);
    await runDurably({ ...run, journal: { ...run.journal, effects: () => effects } }, () => {});
    expect(found).toEqual(whenCalled);
  }
});

it("continues in another process without repeating a call of unknown outcome", async () => {
  const { memory, store, runId, process, OLD } = await harness();
  let sent = 0;
  let next: LeaseToken = OLD;
  const sendAndDie = async (): Promise<string> => {
    sent += 1;
    // Another process takes the run over: nothing that this one does is written from now on.
    next = await memory.takeOver(runId);
    return "sent";
  };
  const crashed = process(OLD, [sender(sendAndDie)], [assistantMessage([toolCall("1", "send", {})])]);
  await expect(runDurably(crashed, () => {})).rejects.toMatchObject({ code: "fenced" });

  const kept = await store.runs.inspect(runId);
  const history = (await store.sessions.history(KEY)).map(({ message }) => message);
  const resumed = process(next, [sender(() => String(++sent))], ["I do not know."]);
  const ended = await runDurably(
    {
      ...resumed,
      context: { ...resumed.context, history, input: [] },
      journal: { ...resumed.journal, seqs: [1, 2], calls: kept?.calls ?? [] },
    },
    () => {},
  );
  expect([sent, ended?.result.text]).toEqual([1, "I do not know."]);
  const results = ended?.result.messages.filter(({ role }) => role === "toolResult") ?? [];
  expect(textsOf(results)).toMatch(/^Outcome unknown/);
});

it("repeats a started call if it is repeatable", async () => {
  const { process, store, runId, OLD } = await harness();
  const call = assistantMessage([toolCall("1", "send", {})]);
  const intent = { callId: "1", name: "send", args: {}, effects: "external" } as const;
  await store.runs.step({ runId, lease: OLD, messages: [call], intents: [intent] });
  const next = process(OLD, [sender(() => "sent")], ["It is sent."]);
  const ended = await runDurably(
    {
      ...next,
      context: { ...next.context, history: [QUESTION, call], input: [] },
      journal: { ...next.journal, seqs: [1, 2], calls: [{ callId: "1", state: "started" }] },
      isRepeatable: () => true,
    },
    () => {},
  );
  expect(textsOf(ended?.result.messages ?? [])).toBe("sent");
});

it("makes no pending call of an earlier run and continues with the new input", async () => {
  const { memory, store, runId, roles, OLD } = await harness();
  const call = assistantMessage([toolCall("1", "send", {})]);
  const intent = { callId: "1", name: "send", args: {}, effects: "external" } as const;
  await store.runs.toolStarted({ runId, lease: OLD, messages: [call], intents: [intent], callIds: ["1"] });
  // The run ended while its call was pending.
  await memory.finish(runId);
  const next: AgentMessage = { role: "user", content: "And now?", timestamp: 2 };
  const later = await memory.begin(KEY, [next]);
  let sent = 0;
  const ended = await runDurably(
    {
      context: {
        system: { stable: "" },
        history: [QUESTION, call],
        input: [next],
        tools: [sender(() => String(++sent))],
      },
      config: { model: SCRIPTED_MODEL, stream: scriptedModel("Now this.").stream },
      journal: {
        store,
        lease: OLD,
        runId: later,
        sessionKey: KEY,
        seqs: [1, 2, 3],
        effects: () => "external",
      },
      isRepeatable: () => true,
    },
    () => {},
  );
  expect([sent, ended?.result.text]).toEqual([0, "Now this."]);
  expect(await roles()).toEqual(["user", "assistant", "user", "toolResult"]);
  expect((await store.runs.inspect(later))?.calls).toEqual([]);
});

it("records everything and returns undefined if its process stops", async () => {
  const { process, roles, OLD } = await harness();
  const stop = new AbortController();
  const run = process(
    OLD,
    [sender(() => "sent")],
    [assistantMessage([toolCall("1", "send", {})]), "Never said."],
  );
  const ended = await runDurably(
    { ...run, config: { ...run.config, signal: stop.signal }, isSuspended: () => stop.signal.aborted },
    (event) => event.type === "tool.end" && stop.abort(),
  );
  expect(ended).toBeUndefined();
  expect((await roles()).slice(0, 3)).toEqual(["user", "assistant", "toolResult"]);
});

it("is recorded as waiting exactly while a person is asked", async () => {
  const { process, store, runId, OLD } = await harness();
  const noted: boolean[] = [];
  const wait = async ({ waiting }: { readonly waiting: boolean }): Promise<void> => void noted.push(waiting);
  const waitingRuns = createWaitingRuns({ store: { runs: { wait } }, lease: OLD, onFailure: () => {} });
  const run = process(OLD, [sender(() => "sent")], [assistantMessage([toolCall("1", "send", {})]), "Done."]);
  await runDurably(
    {
      ...run,
      config: {
        ...run.config,
        beforeToolCall: () => ({ action: "ask", question: "Send it?" }),
        async onAsk() {
          expect(noted).toEqual([true]);
          return { action: "allow" };
        },
      },
      waiting: waitingRuns.track(runId, { standBy: () => {} }),
    },
    () => {},
  );
  expect(noted).toEqual([true, false]);
  expect((await store.runs.inspect(runId))?.calls).toMatchObject([{ state: "done" }]);
});

function textsOf(messages: readonly AgentMessage[]): string {
  const results = messages.filter((message): message is ToolResultMessage => message.role === "toolResult");
  return results
    .flatMap(({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])))
    .join("\n");
}
