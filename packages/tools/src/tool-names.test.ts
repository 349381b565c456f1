import { expect, test } from "vitest";
import { findUnknownToolNames, listToolNames, matchesAny, TOOL_GROUPS, TOOL_PROFILES } from "./tool-names.ts";

test("finds names that match no tool", () => {
  const existing = ["read", "write", "edit", "ls", "exec", "message", "mcp__git__log", "mcp__files__*"];
  const names = [
    ...["read", "*", "group:fs", "profile:coding", "mcp__git__*", "mcp__*", "mcp__files__read"],
    ...["exce", "Write", "group:file", "profile:codng", "browser", "mcp__x__*", "exce"],
  ];
  expect(findUnknownToolNames(names, existing)).toEqual([
    ...["exce", "Write", "group:file", "profile:codng", "browser", "mcp__x__*"],
  ]);
  expect(listToolNames(existing)).toEqual(
    expect.arrayContaining(["read", "mcp__files__*", "group:fs", "profile:coding"]),
  );
});

test("expands groups, profiles and groups in profiles, and treats unknown ones as empty", () => {
  expect(matchesAny(["profile:coding"], "process")).toBe(true);
  expect(matchesAny(["group:mcp"], "mcp__files__read")).toBe(true);
  expect(matchesAny(["group:mcp"], "read")).toBe(false);
  expect(matchesAny(["group:constructor", "profile:toString", "profile:"], "read")).toBe(false);
  for (const name of [...Object.keys(TOOL_GROUPS), ...Object.keys(TOOL_PROFILES)])
    expect(name).toMatch(/^[a-z]+$/);
});
