import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createMemories, createSessionAccess } from "../../src/agents/index.ts";
import { temporaryFolder } from "../support.ts";

it("finishes a pending search after reopen, and uses the new memory from then on", async () => {
  const folder = temporaryFolder();
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  let opened = 0;
  const memories = createMemories({
    index: () => join(folder, "index.db"),
    turns: () => ({ async *read() {} }),
    async embedder() {
      opened += 1;
      return {
        model: "slow",
        async embed(texts) {
          if (texts[0] === "boiler") {
            asked.resolve();
            await answer.promise;
          }
          return texts.map(() => Float32Array.of(1, 0));
        },
      };
    },
  });
  onTestFinished(() => memories.close());
  const memory = await memories.of({ id: "coder", workspaceDir: folder });
  await memory.write({ text: "The boiler is called Bertha.", kind: "lasting" });
  const reader = createSessionAccess(() => true).readerFor("agent:coder:web:direct:owner", "owner");
  const searched = memory.search("boiler", { reader });
  await asked.promise;
  memories.reopen();
  expect((await memory.search("Bertha", { reader })).hits).toHaveLength(1);
  answer.resolve();
  expect((await searched).hits).toMatchObject([{ text: "- The boiler is called Bertha." }]);
  expect(opened).toBe(2);
});

it("keeps the memories of an agent's shards apart", async () => {
  const folder = temporaryFolder();
  const opened: string[] = [];
  const memories = createMemories({
    index: (shardId) => join(folder, `${shardId}.db`),
    turns(shardId) {
      opened.push(shardId);
      return { async *read() {} };
    },
  });
  onTestFinished(() => memories.close());
  const of = (number: number) =>
    memories.of({ id: "coder", shardId: `coder#${number}`, workspaceDir: join(folder, String(number)) });
  const [one, two] = [await of(1), await of(2)];
  await one.write({ text: "The boiler is called Bertha.", kind: "lasting" });
  const reader = createSessionAccess(() => true).readerFor("agent:coder:web:direct:owner", "owner");
  const count = async (memory: typeof one) => (await memory.search("Bertha", { reader })).hits.length;
  expect([await count(one), await count(two), await count(await of(1))]).toEqual([1, 0, 1]);
  expect(opened).toEqual(["coder#1", "coder#2"]);
});
