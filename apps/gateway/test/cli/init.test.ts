import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { parse } from "yaml";
import { hostWith } from "./host.ts";
import { type Ended, runCommand } from "./run.ts";

beforeEach(() => {
  for (const name of ["LC_ALL", "LC_MESSAGES", "LANG", "LANGUAGE"]) vi.stubEnv(name, "C");
  for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"])
    vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

/** A home that nobody has set up. */
function newHome() {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-init-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "signalbox.yaml");
  return {
    dir,
    init: (...words: readonly string[]): Promise<Ended> =>
      runCommand(hostWith(), "init", "--yes", "--no-check", "--home", dir, ...words),
    written: (): unknown => (existsSync(file) ? parse(readFileSync(file, "utf8")) : undefined),
  };
}

const ADDRESS = "http://127.0.0.1:9/v1";

it("takes the language that is given in the place of the one that was set", async () => {
  const { init, written } = newHome();
  await init("--language", "zh");
  expect(written()).toEqual({ agents: { defaults: { language: "zh" } } });
  await init("--language", "en");
  expect(written()).toEqual({ agents: { defaults: { language: "en" } } });
});

it.each(["qwen3", "local/qwen3"])("has the model of a server of one's own answer: %s", async (model) => {
  const { init, written } = newHome();
  const { code } = await init("--provider", "local", "--base-url", ADDRESS, "--model", model);
  expect(code).toBe(0);
  expect(written()).toEqual({
    models: { providers: { local: { api: "openai-chat", baseUrl: ADDRESS, models: [{ id: "qwen3" }] } } },
    agents: { defaults: { model: "local/qwen3" } },
  });
});

it("has no other model answer in the place of one that was not named", async () => {
  vi.stubEnv("OPENAI_API_KEY", "a-key-of-the-environment");
  const { init, written } = newHome();
  const { code, err } = await init("--provider", "local", "--base-url", ADDRESS);
  expect(code).toBe(64);
  expect(err).toContain("local was not set up, because it needs a model: add --model local/<model>.");
  expect(written()).toBeUndefined();
});

it.each([
  ["local", "local was not set up, because it needs an address: add --base-url."],
  ["anthropic", "anthropic was not set up, because it needs a key: add --api-key."],
  ["claude", "claude was not set up, because it needs a setup token: add --api-key."],
])("refuses %s without what it needs", async (provider, why) => {
  const { init, written } = newHome();
  const { code, err } = await init("--provider", provider, "--model", `${provider}/m`);
  expect([code, err]).toEqual([64, expect.stringContaining(why)]);
  expect(written()).toBeUndefined();
});

it("stores the setup token of a Claude plan apart from the configuration, and keeps the model as a fallback", async () => {
  const { dir, init, written } = newHome();
  await init("--provider", "openai", "--api-key", "key-of-openai-0123456789", "--model", "openai/gpt-5.2");
  const token = `sk-ant-oat01-${"aB3_".repeat(20)}AA`;
  const model = "claude/claude-sonnet-4-6";
  expect(await init("--provider", "anthropic", "--api-key", token, "--model", model)).toMatchObject({
    code: 64,
    err: expect.stringContaining("choose the provider claude"),
  });
  const { code, out, err } = await init("--provider", "claude", "--api-key", token, "--model", model);
  expect(code).toBe(0);
  expect(err).toContain("may not permit this access");
  expect(out + err).not.toContain(token);
  expect(written()).toMatchObject({
    models: { providers: { claude: { api: "anthropic-messages", subscription: "claude" } } },
    agents: { defaults: { model, fallbacks: ["openai/gpt-5.2"] } },
  });
  expect(JSON.stringify(written())).not.toContain(token);
  const file = join(dir, "secrets", "subscriptions", "claude.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    subscription: "claude",
    accessToken: token,
    baseUrl: "https://api.anthropic.com",
  });
});

it("refuses to ask without a terminal, and reports that nothing was changed", async () => {
  const { dir, written } = newHome();
  const refused = await runCommand(hostWith(), "init", "--home", dir);
  expect([refused.code, refused.err]).toEqual([
    64,
    expect.stringContaining("There is no terminal to ask at."),
  ]);
  expect(written()).toBeUndefined();
  writeFileSync(join(dir, "signalbox.yaml"), "agents: { defaults: { language: zh } }\n");
  const { code, out } = await runCommand(hostWith(), "init", "--yes", "--home", dir);
  expect([code, out]).toEqual([0, expect.stringContaining("Nothing was changed in ")]);
});

it("keeps a provider that does not answer, and fails", async () => {
  const { dir, written } = newHome();
  const { code, out, err } = await runCommand(
    hostWith(),
    ...["init", "--yes", "--home", dir, "--provider", "local", "--base-url", ADDRESS, "--model", "qwen3"],
  );
  expect(code).toBe(1);
  expect(out).toContain("Set up in ");
  expect(err).toMatch(/local\/qwen3 does not answer: .*The settings were saved anyway/);
  expect(written()).toMatchObject({ agents: { defaults: { model: "local/qwen3" } } });
});

it("refuses an address without http before anything else is asked", async () => {
  const { init, written } = newHome();
  const { code, err } = await init("--provider", "local", "--base-url", "localhost:11434/v1", "--model", "a");
  expect(code).toBe(64);
  expect(err).toContain('"localhost:11434/v1" is not a web address: write it in full');
  expect(written()).toBeUndefined();
});

it("gives an agent back its usual folder, and keeps one that nobody speaks of", async () => {
  const { dir, init, written } = newHome();
  await init("--agent", "Anna.B", "--workspace", "/srv/anna");
  expect(written()).toEqual({ agents: { list: [{ id: "Anna.B", workspaceDir: "/srv/anna" }] } });
  await init("--agent", "Anna.B");
  expect(written()).toEqual({ agents: { list: [{ id: "Anna.B", workspaceDir: "/srv/anna" }] } });
  await init("--agent", "Anna.B", "--workspace", join(dir, "workspaces", "Anna.B"));
  expect(written()).toEqual({ agents: { list: [{ id: "Anna.B" }] } });
});
