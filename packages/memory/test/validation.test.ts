import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createMemory, type NewNote, type NewTurn, type Scope } from "../src/index.ts";
import { NOON, openMemory, temporaryFolder, textsOf } from "./support.ts";

/** Parses a value as a caller in JavaScript may pass it, whatever the type says. */
function untyped<T>(json: string): T {
  return JSON.parse(json);
}

test.each([
  ['{ "text": "beta", "scope": { "person": "ann" } }', "`scope` must be { kind: "],
  ['{ "text": "beta", "scope": "ann" }', "`scope` must be"],
  ['{ "text": "beta", "scope": { "kind": "person" } }', "`scope` must be"],
  ['{ "id": "1" }', "`text` must be a string, not undefined"],
  ['{ "text": 7 }', "`text` must be a string, not 7"],
  ['{ "text": "beta", "id": 7 }', "`id` must be a string"],
  ['{ "text": "beta", "chat": null }', "`chat` must be a string, not null"],
  ['{ "text": "beta", "author": { "name": "Ann" } }', "`author` must be a string or { id, name }"],
  ['{ "text": "beta", "at": "soon" }', 'not a date: "soon"'],
  ['{ "text": "beta", "untrusted": true }', "`untrusted` must be a string"],
  ["null", "must be an object"],
])("rejects the turn %s and stores nothing", async (json, message) => {
  const folder = temporaryFolder();
  const memory = await openMemory({ folder });
  await memory.add({ text: "alpha" });
  await expect(memory.add([{ text: "gamma" }, untyped<NewTurn>(json)])).rejects.toThrow(message);

  expect(await textsOf(memory, "alpha beta gamma")).toEqual(["alpha"]);
  await memory.add({ text: "delta" });
  const again = await openMemory({ folder });
  expect(await textsOf(again, "delta", { limit: 1 })).toEqual(["delta"]);
});

test.each([
  ['{ "text": "beta", "scope": { "person": "ann" } }', "`scope` must be"],
  ['{ "scope": { "kind": "everyone" } }', "`text` must be a string"],
  ['{ "text": "beta", "kind": "weekly" }', '`kind` must be "lasting" or "daily"'],
  ['{ "text": "beta", "message": 1 }', "`message` must be a string, not 1"],
])("rejects the note %s", async (json, message) => {
  const memory = await openMemory();
  await expect(memory.write(untyped<NewNote>(json))).rejects.toThrow(message);
});

test("rejects an unknown scope wherever one is passed", async () => {
  const memory = await openMemory();
  const scope = untyped<Scope>('{ "person": "ann" }');
  await expect(memory.notes(scope)).rejects.toThrow('{ kind: "person", person }');
  await expect(memory.log(scope)).rejects.toThrow(TypeError);
  await expect(memory.consolidate({ scope, distil: async () => [] })).rejects.toThrow(TypeError);
  await expect(createMemory({ topScope: scope })).rejects.toThrow(TypeError);
});

test("skips lines of the file that are not valid turns, reports them, and finds the others", async () => {
  const folder = temporaryFolder();
  const file = join(folder, ".turns.jsonl");
  const problems: string[] = [];
  const memory = await openMemory({ folder, onProblem: (problem) => problems.push(problem) });
  await memory.add({ text: "alpha one" });
  const valid = readFileSync(file, "utf8");
  appendFileSync(file, '{"id":"2","text":"alpha two","at":1,"chat":"","scope":{"person":"ann"}}\n');
  appendFileSync(file, '{"id":"3","at":1,"chat":"","scope":{"kind":"everyone"}}\nnot json\n');
  appendFileSync(file, valid.replace("alpha one", "alpha four").replace(/"id":"[^"]*"/, '"id":"4"'));

  expect((await textsOf(memory, "alpha")).toSorted()).toEqual(["alpha four", "alpha one"]);
  expect(problems).toEqual([
    `Skipped 3 lines of ${file} that are not valid turns. At byte ${valid.length}: \`scope\` must be ` +
      '{ kind: "everyone" }, { kind: "person", person } or { kind: "chat", chat }, not {"person":"ann"}.',
  ]);
  await memory.add({ text: "alpha five" });
  expect(await memory.forget(["4"])).toEqual(["4"]);
  expect(await textsOf(memory, "alpha", { limit: 1 })).toHaveLength(1);
});

test("skips invalid turns of a host's conversations and reports them", async () => {
  const problems: string[] = [];
  const turn = { id: "1", text: "alpha", at: NOON, chat: "c", scope: { kind: "everyone" } as const };
  const memory = await openMemory({
    onProblem: (problem) => problems.push(problem),
    turns: {
      async *read(marks) {
        if (marks.get("read") !== undefined) return;
        const broken = { ...turn, id: "2", scope: untyped<Scope>('{ "person": "ann" }') };
        yield { turns: [turn, broken], marks: new Map([["read", "all"]]) };
      },
    },
  });
  expect(await textsOf(memory, "alpha")).toEqual(["alpha"]);
  expect(problems).toEqual([
    expect.stringContaining('Skipped turn "2", which is not valid: `scope` must be'),
  ]);
});
