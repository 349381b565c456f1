import type { JsonValue } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { createPrefixWatch, type PrefixStore } from "./prefix-watch.ts";
import type { PromptSection } from "./types.ts";

function notesInMemory(): PrefixStore {
  const kept = new Map<string, JsonValue>();
  return {
    get: async (namespace, key) => kept.get(`${namespace} ${key}`),
    async set(namespace, key, value) {
      kept.set(`${namespace} ${key}`, value);
    },
  };
}

const section = (text: string): PromptSection => ({
  name: "identity",
  title: "Identity",
  text,
  part: "stable",
  chars: text.length,
  tokens: 1,
});

it("reports where the prefix of a session differs from the last one, also in another process", async () => {
  const notes = notesInMemory();
  const problems: unknown[] = [];
  const watch = () =>
    createPrefixWatch({ store: notes, onProblem: (error) => problems.push(error), now: () => 0 });
  const first = await watch().check("s", [section("You are a careful gardener.")], []);
  expect(first.drift).toBeUndefined();
  expect(await watch().check("s", [section("You are a careful gardener.")], [])).toEqual(first);
  const changed = await watch().check("s", [section("You are a careful gardener's friend.")], []);
  expect(changed.drift).toEqual({ section: "identity", change: "changed", byte: 16 });
  expect((await watch().check("other", [section("You are somebody else.")], [])).drift).toBeUndefined();
  const known = await watch().check("s", [section("You are somebody else.")], []);
  expect(known.drift).toEqual({ section: "identity", change: "changed", byte: 0 });
  expect(problems).toEqual([]);
});

it("continues if digests cannot be stored", async () => {
  const problems: unknown[] = [];
  const failing = { ...notesInMemory(), set: () => Promise.reject(new Error("the disk is gone")) };
  const watch = createPrefixWatch({
    store: failing,
    onProblem: (error) => problems.push(error),
    now: () => 0,
  });
  expect((await watch.check("s", [section("You are a gardener.")], [])).drift).toBeUndefined();
  expect(problems).toHaveLength(2);
});
