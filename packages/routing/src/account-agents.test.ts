import { expect, it } from "vitest";
import { agentsOfAccount, type Binding } from "./index.ts";

const of = (bindings: readonly Binding[], account = "main") =>
  agentsOfAccount({ bindings, agents: ["a", "b", "c"], defaultAgent: "a" }, "telegram", account);

it("are the default one, and those that bindings send some of its messages to", () => {
  expect(of([])).toEqual(["a"]);
  expect(of([{ agent: "b", match: { channel: "slack" } }])).toEqual(["a"]);
  expect(of([{ agent: "gone", match: { channel: "telegram" } }])).toEqual(["a"]);
  const peer = { kind: "direct", id: "1" } as const;
  expect(of([{ agent: "b", match: { channel: "telegram", peer } }])).toEqual(["b", "a"]);
  expect(of([{ agent: "b", match: { channel: "telegram", roles: ["1"] } }])).toEqual(["b", "a"]);
  expect(of([{ agent: "b", match: { channel: "telegram", account: "ma*" } }])).toEqual(["b"]);
  expect(of([{ agent: "b", match: { channel: "telegram", account: "ma*" } }], "other")).toEqual(["a"]);
});
