import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { hostThatPrepares } from "./host.ts";
import { runCommand } from "./run.ts";

it("tells what a change takes from what is named elsewhere, and nothing that was wrong before", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-config-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(
    join(home, "signalbox.yaml"),
    `models:
  providers:
    local: { api: openai-chat, baseUrl: "http://127.0.0.1:9/v1", models: [{ id: qwen3, contextWindow: 8192 }] }
    other: { api: openai-chat, baseUrl: "http://127.0.0.1:9/v1" }
agents:
  defaults:
    model: local/qwen3
    tools: { allow: [raed] }
`,
  );
  const change = (...words: string[]) =>
    runCommand(hostThatPrepares(home), "config", ...words, "--home", home);
  const unset = await change("unset", "models.providers.local");
  expect(unset.code).toBe(78);
  expect(unset.err).toMatch(/^error: .*: agents\.defaults\.model: .*local.*$/m);
  expect(unset.err).not.toContain("raed");
  expect((await change("set", "gateway.port", "4801")).err).toBe("");
  const told = await change("set", "agents.defaults.model", "nowhere/m", "--json");
  expect([told.code, told.err]).toEqual([78, expect.stringContaining("was changed, but does not work yet")]);
  expect(JSON.parse(told.out)).toMatchObject({
    changed: "agents.defaults.model",
    problems: [{ severity: "error", path: "agents.defaults.model" }],
  });
});

it("fails for misspelled keys with --strict only", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-config-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "signalbox.yaml"), "agent: { list: [] }\n");
  const check = (...words: string[]) =>
    runCommand(hostThatPrepares(home), "config", "check", ...words, "--home", home);
  expect(await check()).toMatchObject({ code: 0, out: expect.stringContaining("Did you mean agents?") });
  expect(await check("--strict")).toMatchObject({
    code: 78,
    err: expect.stringContaining("1 ignored setting in "),
  });
});
