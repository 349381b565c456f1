import { expect, it } from "vitest";
import { findEdits, setAt } from "./edits.ts";

const before = { agents: { list: [{ id: "a", name: "A" }, { id: "b" }] }, gateway: { port: 1 } };

it("replaces, adds and removes values without changing the original", () => {
  const named = setAt(before, ["agents", "list", 0, "name"], "B");
  expect(findEdits(before, named)).toEqual([{ path: ["agents", "list", 0, "name"], value: "B" }]);
  const added = setAt(before, ["models", "providers", "openai", "apiKey"], "${KEY}");
  expect(findEdits(before, added)).toEqual([
    { path: ["models"], value: { providers: { openai: { apiKey: "${KEY}" } } } },
  ]);
  expect(findEdits(before, setAt(before, ["gateway", "port"], undefined))).toEqual([
    { path: ["gateway", "port"] },
  ]);
  expect(before.agents.list[0]?.name).toBe("A");
});

it("replaces a list whose length changes", () => {
  const shorter = setAt(before, ["agents", "list", 0], undefined);
  expect(findEdits(before, shorter)).toEqual([{ path: ["agents", "list"], value: [{ id: "b" }] }]);
});

it("finds no change in an equal configuration", () => {
  expect(findEdits(before, structuredClone(before))).toEqual([]);
});
