import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome, prepareHome } from "@signalbox/home";
import { expect, it, onTestFinished } from "vitest";
import { resolveAgents } from "../../src/configure/agents.ts";

/** The heartbeat that an agent has where it and the defaults say this. */
function heartbeatOf(own: unknown, defaults?: unknown) {
  const dir = mkdtempSync(join(tmpdir(), "setup-heartbeat-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  prepareHome(home);
  const text = JSON.stringify({
    agents: { defaults: { heartbeat: defaults }, list: [{ id: "coder", heartbeat: own }] },
  });
  const loaded = loadConfig({ file: "signalbox.json", text, env: {} });
  expect(loaded.problems).toEqual([]);
  return resolveAgents(loaded, home).get("coder")?.heartbeat;
}

it("is half-hourly where nobody wrote of it, or only named it", () => {
  expect(heartbeatOf(undefined)).toEqual(heartbeatOf({}));
  expect(heartbeatOf({})).toEqual({ every: "30m", activeHours: undefined, to: "page" });
});

it("takes from the defaults what an agent does not say, and lets it do without", () => {
  const activeHours = { from: "08:00", to: "22:00" };
  expect(heartbeatOf(undefined, { every: "1h" })).toMatchObject({ every: "1h", to: "page" });
  expect(heartbeatOf({ every: "2h" }, { every: "1h", activeHours, to: "owner" })).toEqual({
    every: "2h",
    activeHours,
    to: "owner",
  });
  expect(heartbeatOf({ enabled: false }, { every: "1h" })).toBeUndefined();
  expect(heartbeatOf({ enabled: true }, { enabled: false })).toBeDefined();
});
