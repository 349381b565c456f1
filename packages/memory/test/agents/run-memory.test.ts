import { expect, it, vi } from "vitest";
import { createRunMemory, createSessionAccess, type Memories, OWNERS } from "../../src/agents/index.ts";
import type { Memory } from "../../src/index.ts";
import { openMemory } from "../support.ts";

const PAGE = "agent:coder:web:direct:owner";
const agent = { id: "coder", workspaceDir: "/nowhere" };

/** Looks up memory for an owner's run, with one note and the given `recall`. */
async function lookUp(recall: Memory["recall"]) {
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
    access: createSessionAccess((channel) => channel === "web"),
    recallTokens: () => 600,
    onProblem: (_agent, error) => problems.push(error),
  });
  const remembered = remember({ agent, sessionKey: PAGE, role: "owner", text: "What now?", places: [0] });
  return { remembered, problems };
}

it("returns the notes if recall fails", async () => {
  const failure = new Error("the index is away");
  const { remembered, problems } = await lookUp(() => Promise.reject(failure));
  expect((await remembered).sections).toMatchObject([{ text: "- The boiler is called Bertha." }]);
  expect(problems).toEqual([failure]);
});

it("returns the notes if recall takes too long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const asked = Promise.withResolvers<void>();
  const { remembered, problems } = await lookUp(() => {
    asked.resolve();
    return new Promise(() => {});
  });
  await asked.promise;
  vi.advanceTimersByTime(2_000);
  vi.useRealTimers();
  expect((await remembered).sections).toHaveLength(1);
  expect(problems).toEqual([]);
});
