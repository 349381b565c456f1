import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { hostThatPrepares } from "./host.ts";
import { runCommand } from "./run.ts";

/** Runs `doctor --security` on a home with this configuration. Returns the state of each part. */
async function review(config: string, openSecret = false) {
  const home = mkdtempSync(join(tmpdir(), "signalbox-security-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "signalbox.yaml"), config, { mode: 0o600 });
  mkdirSync(join(home, "secrets"), { mode: 0o700 });
  writeFileSync(join(home, "secrets", "key"), "x", { mode: 0o600 });
  if (openSecret) chmodSync(join(home, "secrets", "key"), 0o644);
  const { out, code } = await runCommand(
    hostThatPrepares(home),
    "doctor",
    "--security",
    "--json",
    "--home",
    home,
  );
  const findings: { part: string; state: string; detail: string; remedy?: string }[] = JSON.parse(out);
  const found = findings.filter(({ state, part }) => state !== "ok" && part !== "user" && part !== "exec");
  return {
    code,
    parts: found.map(({ part }) => part),
    remedies: found.map(({ remedy }) => remedy),
    findings,
  };
}

it("finds nothing in the defaults", async () => {
  vi.stubEnv("SIGNALBOX_TOKEN", undefined);
  for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"])
    vi.stubEnv(name, undefined);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { parts, findings } = await review("agents: { list: [{ id: a }] }\n");
  expect(parts).toEqual([]);
  expect(findings.map(({ part }) => part)).toContain("policy");
});

it.each([
  ["access: { dm: open }", "direct messages"],
  ["access: { groups: { mode: open } }", "groups"],
  ["access: { groups: { allow: ['x:1'], requireMention: false } }", "groups"],
  ["gateway: { host: 0.0.0.0, auth: { token: kV2mT9qLx7RbW4eZ8pYc } }", "address"],
  ["tools: { web: { allow: ['wiki.internal:443'] } }", "reach"],
  ["tools: { sessions: { visibility: all } }", "reach"],
  [
    "agents: { list: [{ id: a, tools: { profile: full } }] }\ntools: { exec: { domains: [example.org] } }",
    "untrusted content",
  ],
])("names what is open, with a remedy: %s", async (config, part) => {
  const { parts, remedies } = await review(config);
  expect(parts).toEqual([part]);
  expect(remedies[0]).toMatch(/\.$/);
});

it("ends with 1 if other users can read a secret, or if commands run without a sandbox", async () => {
  const readable = await review("", true);
  expect([readable.parts, readable.code]).toEqual([["files"], 1]);
  const unconfined = await review(
    "agents: { list: [{ id: a, tools: { profile: full } }] }\ntools: { exec: { sandbox: none } }",
  );
  expect(unconfined.parts).toContain("sandbox");
  expect(unconfined.code).toBe(1);
});

it("names the variables with keys, without their values", async () => {
  vi.stubEnv("OPENAI_API_KEY", "sk-secret-0123456789");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { findings } = await review("");
  const finding = findings.find(({ part }) => part === "environment");
  expect(finding?.detail).toContain("OPENAI_API_KEY is set");
  expect(JSON.stringify(findings)).not.toContain("sk-secret");
});
