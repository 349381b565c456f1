import { expect, it } from "vitest";
import { type Binding, getAccountAgents } from "./index.ts";

const of = (bindings: readonly Binding[], account = "main") =>
  getAccountAgents({ bindings, agents: ["a", "b", "c"], defaultAgent: "a" }, "telegram", account);

it("returns the default agent and the agents of the account's bindings", () => {
  expect(of([])).toEqual(["a"]);
  expect(of([{ agent: "b", match: { channel: "slack" } }])).toEqual(["a"]);
  expect(of([{ agent: "gone", match: { channel: "telegram" } }])).toEqual(["a"]);
  const peer = { kind: "direct", id: "1" } as const;
  expect(of([{ agent: "b", match: { channel: "telegram", peer } }])).toEqual(["b", "a"]);
  expect(of([{ agent: "b", match: { channel: "telegram", roles: ["1"] } }])).toEqual(["b", "a"]);
  expect(of([{ agent: "b", match: { channel: "telegram", account: "ma*" } }])).toEqual(["b"]);
  expect(of([{ agent: "b", match: { channel: "telegram", account: "ma*" } }], "other")).toEqual(["a"]);
});
