import { expect, it } from "vitest";
import { groupByWorkspace } from "./agent-groups.ts";
import type { Agent } from "./agents.ts";

function agent(id: string, workspaceDir: string): Agent {
  return Object.assign(Object.create(null), { id, shardId: id, workspaceDir });
}

it("groups agents whose workspaces overlap, also through a third agent", () => {
  const agents = [
    agent("a", "/w/one"),
    agent("b", "/w/two"),
    agent("c", "/w/one/sub"),
    agent("d", "/w/one-more"),
    agent("e", "/w/..names"),
  ];
  const names = (all: readonly Agent[]) => groupByWorkspace(all).map((group) => group.map(({ id }) => id));
  expect(names(agents)).toEqual([["b"], ["a", "c"], ["d"], ["e"]]);
  expect(names([...agents, agent("f", "/w")])).toEqual([["b", "a", "c", "d", "e", "f"]]);
});
