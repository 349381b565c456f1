import assert from "node:assert/strict";
import type { AgentMessage, CompactionSummaryMessage } from "@signalbox/agent-core";
import type { ConversationStore, JournalStore, LeaseToken, ToolIntent } from "../store.ts";

/** An implementation under test. */
export interface RunsUnderTest {
  readonly runs: JournalStore;
  readonly sessions: ConversationStore;
  /** The lease that runs begin under now. */
  readonly lease: LeaseToken;
  /** Begins a run with these messages, as the host does it. */
  begin(sessionKey: string, messages: readonly AgentMessage[]): Promise<string>;
  /** Another process takes the lease, and the run with it. */
  takeOver(runId: string): Promise<LeaseToken>;
  /** Ends a run. */
  finish(runId: string): Promise<void>;
}

/** A runner's `test`, such as Vitest's. */
type Test = (name: string, run: () => Promise<void>) => void;

const KEY = "agent:main:web:direct:ann";
const call: ToolIntent = { callId: "c1", name: "exec", args: { command: "ls" }, effects: "external" };
const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const summary: CompactionSummaryMessage = {
  role: "compactionSummary",
  summary: "so far",
  replaced: 2,
  timestamp: 1,
};

const CHECKS: Readonly<Record<string, (it: RunsUnderTest) => Promise<void>>> = {
  "numbers the messages of a conversation without gaps, over runs": async (it) => {
    const first = await it.begin(KEY, [user("a")]);
    await it.runs.step({ runId: first, lease: it.lease, messages: [user("b"), user("c")] });
    await it.finish(first);
    const second = await it.begin(KEY, [user("d")]);
    assert.deepEqual(numbers(await it.sessions.history(KEY)), [1, 2, 3, 4]);
    assert.deepEqual(numbers((await it.runs.inspect(second))?.messages), [4]);
  },

  "keeps calls with the turn that asks for them, until they have their results": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    const write = { runId, lease: it.lease };
    const states = async () => (await it.runs.inspect(runId))?.calls.map(({ state }) => state);
    await it.runs.step({ ...write, messages: [user("b")], intents: [call] });
    assert.deepEqual(await states(), ["intent"]);
    await it.runs.toolStarted({ ...write, callIds: ["c1"] });
    assert.deepEqual(await states(), ["started"]);
    await it.runs.toolResults({ ...write, callIds: ["c1"], messages: [user("c")] });
    assert.deepEqual(await states(), ["done"]);
    assert.deepEqual(numbers(await it.sessions.history(KEY)), [1, 2, 3]);
  },

  "takes a turn along with the start of its first call": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    const start = { messages: [user("b")], intents: [call], callIds: ["c1"] };
    await it.runs.toolStarted({ runId, lease: it.lease, ...start });
    const kept = await it.runs.inspect(runId);
    assert.deepEqual([kept?.messages.length, kept?.calls[0]?.state], [2, "started"]);
  },

  "knows no call that was not told of, and writes nothing then": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    const start = { runId, lease: it.lease, callIds: ["c2"], messages: [user("b")] };
    await assert.rejects(it.runs.toolStarted(start), { code: "not_found" });
    assert.deepEqual(numbers(await it.sessions.history(KEY)), [1]);
  },

  "puts a summary in the place of what it stands for, under the next number": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    await it.runs.step({ runId, lease: it.lease, messages: [user("b"), user("c")] });
    await it.sessions.compact(KEY, { summary, upTo: 2, lease: it.lease });
    await it.runs.step({ runId, lease: it.lease, messages: [user("d")] });
    const history = await it.sessions.history(KEY);
    assert.deepEqual(numbers(history), [4, 3, 5]);
    assert.equal(history[0]?.message.role, "compactionSummary");
  },

  "refuses what comes under a lease that was lost": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    const lost = it.lease;
    const lease = await it.takeOver(runId);
    await assert.rejects(it.runs.step({ runId, lease: lost, messages: [user("b")] }));
    await assert.rejects(it.runs.wait({ runId, lease: lost, waiting: true }));
    await it.runs.step({ runId, lease, messages: [user("c")] });
    const said = (await it.sessions.history(KEY)).map(
      ({ message }) => "content" in message && message.content,
    );
    assert.deepEqual(said, ["a", "c"]);
  },

  "tells of a run that waits whether it has ended": async (it) => {
    const runId = await it.begin(KEY, [user("a")]);
    const write = { runId, lease: it.lease };
    await it.runs.wait({ ...write, waiting: true });
    await it.runs.wait({ ...write, waiting: false });
    await it.finish(runId);
    await assert.rejects(it.runs.wait({ ...write, waiting: true }), ({ code }: { code?: unknown }) =>
      ["conflict", "not_found"].includes(String(code)),
    );
  },
};

/** What every store of journals and conversations has to keep. `open` gives a fresh, empty one. */
export function journalConformance(test: Test, open: () => Promise<RunsUnderTest>): void {
  for (const [name, check] of Object.entries(CHECKS)) test(`runs: ${name}`, async () => check(await open()));
}

function numbers(messages: readonly { readonly seq: number }[] = []): number[] {
  return messages.map(({ seq }) => seq);
}
