import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@signalbox/config";
import { locateHome } from "@signalbox/home";
import { createVault } from "@signalbox/redaction";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkSubscriptions } from "../../src/cli/doctor/subscriptions.ts";
import { createSetup } from "../../src/configure/create-setup.ts";
import { openSubscriptions } from "../../src/configure/subscriptions/credentials.ts";
import { PACKAGES } from "./packages.ts";

const NOW = Date.parse("2026-11-30T12:00:00Z");
const DAY_MS = 24 * 3_600_000;

describe("the configuration of a subscription", () => {
  async function check(text: string) {
    const dir = mkdtempSync(join(tmpdir(), "subscriptions-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const loaded = loadConfig({ file: "signalbox.yaml", text, env: {} });
    const setup = await createSetup({
      home: locateHome(dir, {}),
      loaded,
      env: {},
      vault: createVault(),
      packages: PACKAGES,
      channels: [],
      ownChannels: [],
      tools: [],
      skillsDir: join(dir, "bundled"),
      logger: () => ({ debug() {}, info() {}, warn() {}, error() {} }),
    });
    return { dir, loaded, setup };
  }
  const CONFIG = `
models:
  providers:
    plan: { api: openai-responses, subscription: chatgpt }
    own: { api: openai-chat, baseUrl: "http://127.0.0.1:9/v1", models: [{ id: m, contextWindow: 9000 }] }
agents:
  defaults: { model: plan/gpt-5.2 }
`;

  it("warns about an agent that uses only subscriptions", async () => {
    const { setup } = await check(CONFIG);
    expect(setup.models.problems).toMatchObject([
      { severity: "warning", message: expect.stringContaining("uses only subscriptions") },
    ]);
  });

  it("accepts a subscription with another fallback", async () => {
    const { setup } = await check(CONFIG.replace("gpt-5.2 }", "gpt-5.2, fallbacks: [own/m] }"));
    expect(setup.problems).toEqual([]);
  });

  it("refuses a key or another API next to a subscription", async () => {
    for (const change of ["apiKey: k, subscription", "baseUrl: 'https://a.example', subscription"]) {
      const text = CONFIG.replace("subscription", change).replace(
        "openai-responses",
        change.startsWith("apiKey") ? "openai-responses" : "openai-chat",
      );
      const { setup } = await check(text);
      expect(setup.problems.map(({ path, severity }) => `${severity} ${path}`)).toContain(
        "error models.providers.plan.subscription",
      );
    }
  });

  it("warns about a setup token in the place of an API key, without repeating it", async () => {
    const token = `sk-ant-oat01-${"aB3_".repeat(20)}AA`;
    const { setup } = await check(`
models: { providers: { anthropic: { api: anthropic-messages, apiKey: "${token}" } } }
`);
    expect(setup.problems).toMatchObject([
      { severity: "warning", message: expect.stringContaining("setup token of a Claude plan") },
    ]);
    expect(JSON.stringify(setup.problems)).not.toContain(token);
  });

  it("is reported by the doctor with its risk", async () => {
    const { dir, loaded } = await check(CONFIG);
    const store = openSubscriptions({ dir }, createVault());
    expect(await checkSubscriptions(loaded.config, store, NOW)).toMatchObject([{ state: "error" }]);
    const baseUrl = "https://chatgpt.com/backend-api/codex";
    const tokens = { accessToken: "a", refreshToken: "b", accountId: "c", expiresAt: 1 };
    await store.set("plan", { subscription: "chatgpt", ...tokens, baseUrl });
    expect(await checkSubscriptions(loaded.config, store, NOW)).toMatchObject([
      { state: "ok", detail: expect.stringContaining("may end it") },
    ]);
  });

  it("warns before a setup token expires, and fails after that", async () => {
    const { dir, loaded } = await check(
      CONFIG.replace("openai-responses, subscription: chatgpt", "anthropic-messages, subscription: claude"),
    );
    const store = openSubscriptions({ dir }, createVault());
    const states = [];
    for (const days of [60, 7, -1]) {
      const expiresAt = NOW + days * DAY_MS;
      const baseUrl = "https://api.anthropic.com";
      await store.set("plan", { subscription: "claude", accessToken: "a", expiresAt, baseUrl });
      states.push(...(await checkSubscriptions(loaded.config, store, NOW)));
    }
    expect(states.map(({ state }) => state)).toEqual(["ok", "warning", "error"]);
    expect(states[1]?.detail).toContain("2026-12-07");
  });

  it("refuses Copilot without a client id of an own app, and these settings without Copilot", async () => {
    const provider = (text: string) =>
      CONFIG.replace("{ api: openai-responses, subscription: chatgpt }", `{ ${text} }`);
    const getProblems = async (text: string) =>
      (await check(provider(text))).setup.problems
        .filter(({ severity }) => severity === "error")
        .map(({ path, message }) => `${path}: ${message}`);
    const copilot = "api: openai-chat, subscription: copilot";
    expect(await getProblems(copilot)).toEqual(
      expect.arrayContaining([expect.stringMatching(/plan\.clientId: .*Register an OAuth app/)]),
    );
    expect(await getProblems(`${copilot}, clientId: Iv1.b507a08c87ecfe98`)).toEqual(
      expect.arrayContaining([expect.stringMatching(/plan\.clientId: .*another program/)]),
    );
    expect(await getProblems("api: openai-responses, subscription: chatgpt, githubHost: a.example")).toEqual(
      expect.arrayContaining([expect.stringMatching(/plan\.githubHost/)]),
    );
    expect(await getProblems(`${copilot}, clientId: Ov23aaaaaaaaaaaaaaaa`)).toEqual([]);
  });
});
