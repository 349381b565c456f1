import { expect, it } from "vitest";
import { memoryKeyValues } from "../../test/key-values.ts";
import { createStandingRules } from "../index.ts";

it("keeps what an owner has allowed for always, once, beside what the configuration says", async () => {
  const kv = memoryKeyValues();
  const rules = createStandingRules(kv, () => ["git status"]);
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
  expect(await createStandingRules(kv, () => ["git status"]).of("coder")).toEqual(all);
  expect(await rules.of("writer")).toEqual([["git", "status"]]);
});
