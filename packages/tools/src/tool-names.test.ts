import { expect, test } from "vitest";
import { checkToolNames, matchesAny, TOOL_GROUPS, TOOL_PROFILES } from "./tool-names.ts";

test("finds names that match no tool, and suggests similar ones", () => {
  const existing = ["read", "write", "edit", "ls", "exec", "message", "mcp__git__log", "mcp__files__*"];
  const names = [
    ...["read", "*", "group:fs", "profile:coding", "mcp__git__*", "mcp__*", "mcp__files__read"],
    ...["exce", "Write", "group:file", "profile:codng", "browser", "mcp__x__*", "exce"],
  ];
  expect(checkToolNames(names, existing)).toEqual([
    { name: "exce", similar: ["exec"] },
    { name: "Write", similar: ["write"] },
    { name: "group:file", similar: ["group:fs"] },
    { name: "profile:codng", similar: ["profile:coding"] },
    { name: "browser", similar: [] },
    { name: "mcp__x__*", similar: [] },
  ]);
});

test("groups and profiles stand for what they name, groups of groups too, and unknown ones for nothing", () => {
  expect(matchesAny(["profile:coding"], "process")).toBe(true);
  expect(matchesAny(["group:mcp"], "mcp__files__read")).toBe(true);
  expect(matchesAny(["group:mcp"], "read")).toBe(false);
  expect(matchesAny(["group:constructor", "profile:toString", "profile:"], "read")).toBe(false);
  for (const name of [...Object.keys(TOOL_GROUPS), ...Object.keys(TOOL_PROFILES)])
    expect(name).toMatch(/^[a-z]+$/);
});
