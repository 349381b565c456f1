import { expect, it } from "vitest";
import { memoryKeyValues } from "../../test/key-values.ts";
import { createAllowRules } from "../index.ts";

it("stores each rule of `allow-always` once, in addition to the configured rules", async () => {
  const kv = memoryKeyValues();
  const rules = createAllowRules(kv, () => ["git status"]);
  await rules.add("coder", [["git", "log"]]);
  await rules.add("coder", [
    ["git", "log"],
    ["ls", "*"],
  ]);
  const all = [
    ["git", "status"],
    ["git", "log"],
    ["ls", "*"],
  ];
  expect(await createAllowRules(kv, () => ["git status"]).get("coder")).toEqual(all);
  expect(await rules.get("writer")).toEqual([["git", "status"]]);
});

it("stores concurrent additions, and continues after a failed write", async () => {
  const kv = memoryKeyValues();
  let isFull = true;
  const set: typeof kv.set = async (...row) => {
    if (isFull) throw new Error("the disk is full");
    await kv.set(...row);
  };
  const rules = createAllowRules({ ...kv, set }, () => []);
  await expect(rules.add("coder", [["lost"]])).rejects.toThrow("the disk is full");
  isFull = false;
  await Promise.all([rules.add("coder", [["ls"]]), rules.add("coder", [["pwd"]])]);
  expect(await rules.get("coder")).toEqual([["ls"], ["pwd"]]);
});

it("stores the rules that two processes add at the same time", async () => {
  const kv = memoryKeyValues();
  const [one, two] = [createAllowRules(kv, () => []), createAllowRules(kv, () => [])];
  await Promise.all([one.add("coder", [["ls"]]), two.add("coder", [["pwd"]])]);
  expect(await one.get("coder")).toEqual([["ls"], ["pwd"]]);
});

it("keeps rules from the list that an earlier version stored", async () => {
  const kv = memoryKeyValues();
  await kv.set("standing-rules", "coder", [["git", "log"]]);
  const rules = createAllowRules(kv, () => []);
  await rules.add("coder", [["git", "log"], ["ls"]]);
  expect(await rules.get("coder")).toEqual([["git", "log"], ["ls"]]);
});
