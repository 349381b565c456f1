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
