import type { MessageEvent } from "@signalbox/channel";
import { plainMessage } from "@signalbox/channel/testkit";
import { openStore } from "@signalbox/store";
import type { RunFacts, SessionsCall } from "@signalbox/tools";
import { expect, it, onTestFinished } from "vitest";
import { createDelegation } from "./delegation.ts";
import type { WakesBodies, WakingRun } from "./ports.ts";
import { createSessionsHandler } from "./sessions-handler.ts";
import type { WakeTerms } from "./wake.ts";

const offered = ["read", "exec", "cron", "ask_user", "memory_search", "sessions_spawn", "sessions_list"];

function runOf(sessionKey: string, maxDepth = 2): WakingRun & { readonly offered: readonly string[] } {
  const subAgents = { maxDepth, maxAtOnce: 4, maxTasks: 20, limits: {} };
  return {
    agent: { id: "coder", subAgents },
    event: plainMessage(),
    messageId: "m",
    sessionKey,
    runId: "r",
    offered,
  };
}

/** A call of a member's run that has read a page. */
function callIn(sessionKey: string, callId: string): SessionsCall {
  const facts: RunFacts = {
    agentId: "coder",
    sessionKey,
    role: "member",
    channelKind: "direct",
    taint: [{ source: "web", detail: "a page" }],
  };
  return { sessionKey, callId, run: { facts, taint() {} } };
}

/** Delegation that runs, the handler over it, and what it woke agents with. */
async function world() {
  const store = await openStore<WakesBodies>({ path: ":memory:" });
  onTestFinished(() => store.close());
  const delegation = createDelegation({ store, logger: { warn() {} }, now: () => 0 });
  const woken: { readonly event: MessageEvent; readonly terms: WakeTerms }[] = [];
  await delegation.start({
    async wake(event, terms) {
      woken.push({ event, terms });
      return { outcome: "taken" };
    },
    endCommands: async () => {},
  });
  onTestFinished(() => delegation.stop());
  return { delegation, woken, handle: createSessionsHandler(delegation, store) };
}

const PARENT = "agent:coder:plain:direct:anna";
const spawn = { action: "spawn", task: "count the files", label: "counter" } as const;

it("gives a task to a session of its own, on the giver's terms and with what had tainted its run", async () => {
  const { woken, handle } = await world();
  await handle(spawn, runOf(PARENT), callIn(PARENT, "c1"));
  await expect.poll(() => woken).toHaveLength(1);
  expect(woken[0]?.event.text).toBe("[Task: counter]\ncount the files");
  expect(woken[0]?.terms).toMatchObject({
    agentId: "coder",
    atMost: "member",
    delegated: { taint: ["web"] },
  });
  expect(woken[0]?.terms.sessionKey).not.toBe(PARENT);
});

it("passes on the tools of the giver's run, but not those that belong to a conversation of people", async () => {
  const { delegation, handle } = await world();
  await handle(spawn, runOf(PARENT), callIn(PARENT, "c1"));
  await handle(spawn, runOf(PARENT, 1), callIn(PARENT, "c2"));
  const tools = (await delegation.of(PARENT)).map((subAgent) => subAgent.tools);
  expect(tools).toContainEqual(["read", "exec", "sessions_spawn", "sessions_list"]);
  expect(tools).toContainEqual(["read", "exec"]);
});

it("refuses to give away a tool that the run does not have", async () => {
  const { delegation, handle } = await world();
  const more = handle({ ...spawn, tools: ["read", "write"] }, runOf(PARENT), callIn(PARENT, "c1"));
  await expect(more).rejects.toThrow("no tools called write");
  expect(await delegation.of(PARENT)).toEqual([]);
});

it("makes one sub-agent of a call that is made again", async () => {
  const { delegation, handle } = await world();
  const first = await handle(spawn, runOf(PARENT), callIn(PARENT, "c1"));
  expect(await handle(spawn, runOf(PARENT), callIn(PARENT, "c1"))).toBe(first);
  expect(await delegation.of(PARENT)).toHaveLength(1);
});

it("shows a session its own sub-agents, and nobody else's", async () => {
  const { delegation, handle } = await world();
  await handle(spawn, runOf(PARENT), callIn(PARENT, "c1"));
  const session = (await delegation.of(PARENT))[0]?.id ?? "";
  const other = "agent:coder:plain:direct:bert";
  expect(await handle({ action: "list" }, runOf(PARENT), callIn(PARENT, "c2"))).toContain("counter");
  expect(await handle({ action: "list" }, runOf(other), callIn(other, "c3"))).toBe("You have no sub-agents.");
  const looking = handle({ action: "history", session, limit: 10 }, runOf(other), callIn(other, "c4"));
  await expect(looking).rejects.toThrow("no sub-agent");
});
