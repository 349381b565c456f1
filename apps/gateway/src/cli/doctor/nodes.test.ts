import type { Lease, NodeState } from "@signalbox/store";
import { expect, it } from "vitest";
import { compareNodes } from "./nodes.ts";

const NOW = 1_000_000;

const node = (id: string, more: Partial<NodeState> = {}): NodeState => ({
  id,
  version: "1.0.0",
  format: 1,
  labels: [],
  configuration: "same",
  startedAt: 1,
  seenAt: NOW,
  clockSkewMs: 1,
  latencyMs: 1,
  takeovers: 0,
  fencedWrites: 0,
  ...more,
});

const lease = (name: string, holder: string, expiresAt = NOW + 5_000): Lease => ({
  name,
  holder,
  epoch: 1,
  acquiredAt: 1,
  expiresAt,
});

it("reports what each node runs if nothing is wrong", () => {
  const leases = [lease("gateway a", "a"), lease("gateway b", "b"), lease("seat main", "b")];
  expect(compareNodes([node("a", { name: "one" }), node("b")], leases, NOW)).toEqual([
    {
      part: "nodes",
      state: "ok",
      detail:
        "one (1.0.0) runs no agent, 0 takeovers, 0 times fenced; b (1.0.0) runs main, 0 takeovers, 0 times fenced",
    },
  ]);
});

it("warns of lost nodes, different configurations and versions, slow writes and wrong clocks", () => {
  const nodes = [
    node("a"),
    node("b", { configuration: "other", version: "1.1.0", clockSkewMs: -9_000, latencyMs: 2_000 }),
    node("c"),
    node("stopped", { configuration: "third" }),
  ];
  const leases = [lease("gateway a", "a"), lease("gateway b", "b"), lease("gateway c", "c", NOW - 1)];
  const warnings = compareNodes(nodes, leases, NOW).filter(({ state }) => state === "warning");
  expect(warnings.map(({ part }) => part)).toEqual([
    "node c",
    "node b",
    "node b",
    "nodes: configuration",
    "nodes: version",
  ]);
  expect(warnings.map(({ detail }) => detail).join("\n")).toContain("a same, b other");
  expect(warnings.every(({ remedy }) => remedy !== undefined)).toBe(true);
});

it("does not trust a clock that is far ahead of the store's", () => {
  const [summary, ...others] = compareNodes(
    [node("a")],
    [lease("gateway a", "a", NOW + 20_000)],
    NOW + 3_600_000,
  );
  expect(summary?.detail).toContain("a (1.0.0)");
  expect(others).toEqual([]);
});
