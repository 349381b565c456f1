import { expect, it, vi } from "vitest";
import { createListeners, createRunMemory, type Memories, OWNERS } from "../../src/agents/index.ts";
import type { Memory } from "../../src/index.ts";
import { openMemory } from "../support.ts";

const PAGE = "agent:coder:web:direct:owner";
const agent = { id: "coder", workspaceDir: "/nowhere" };

/** What an owner's run is told by a memory that has a note, and recalls as it is told. */
async function told(recall: Memory["recall"]) {
  const memory = await openMemory({ topScope: OWNERS });
  await memory.write({ text: "The boiler is called Bertha.", kind: "lasting" });
  const memories: Memories = {
    of: async () => ({ ...memory, recall }),
    forget: async () => [],
    reopen: async () => {},
    close: async () => {},
  };
  const problems: unknown[] = [];
  const remember = createRunMemory({
    memories: () => memories,
    listeners: createListeners((channel) => channel === "web"),
    recallTokens: () => 600,
    onProblem: (_agent, error) => problems.push(error),
  });
  const remembered = remember({ agent, sessionKey: PAGE, role: "owner", text: "What now?", places: [0] });
  return { remembered, problems };
}

it("is told the notes by a memory that cannot recall", async () => {
  const failure = new Error("the index is away");
  const { remembered, problems } = await told(() => Promise.reject(failure));
  expect((await remembered).sections).toMatchObject([{ text: "- The boiler is called Bertha." }]);
  expect(problems).toEqual([failure]);
});

it("is told the notes by a memory that takes too long to recall", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = Promise.withResolvers<void>();
  const { remembered, problems } = await told(() => {
    asked.resolve();
    return new Promise(() => {});
  });
  await asked.promise;
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();
  expect((await remembered).sections).toHaveLength(1);
  expect(problems).toEqual([]);
});
