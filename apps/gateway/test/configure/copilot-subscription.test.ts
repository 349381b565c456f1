import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Message } from "@signalbox/agent-core";
import { createModels } from "@signalbox/llm-providers";
import { createVault } from "@signalbox/redaction";
import { type FakeCopilotOptions, startFakeCopilot, startOpenAI } from "@signalbox/testkit/openai";
import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { signInWithDevice } from "../../src/cli/commands/models.ts";
import { startCopilotSignIn } from "../../src/configure/subscriptions/copilot-sign-in.ts";
import { openSubscriptions } from "../../src/configure/subscriptions/credentials.ts";
import { createSubscriptionFetch, getSignInKey } from "../../src/configure/subscriptions/vendors.ts";

const PROVIDER = "plan";
const MODEL = `${PROVIDER}/gpt-5.2`;
const CLIENT_ID = "Ov23aaaaaaaaaaaaaaaa";
const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function open(options: Partial<FakeCopilotOptions> = {}) {
  const clock = { now: Date.now() };
  const fake = await startFakeCopilot({
    script: () => ({ text: "From Copilot." }),
    clientId: CLIENT_ID,
    now: () => clock.now,
    ...options,
  });
  const own = await startOpenAI({ script: () => ({ text: "From the fallback." }) });
  onTestFinished(() => fake.stop());
  onTestFinished(() => own.stop());
  const dir = mkdtempSync(join(tmpdir(), "copilot-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const vault = createVault();
  const store = openSubscriptions({ dir }, vault);
  const key = { provider: PROVIDER, subscription: "copilot", baseUrl: fake.url } as const;
  const waits: number[] = [];
  /** Waits in place of the timer. */
  let whileWaiting = async (): Promise<void> => {};
  const start = (clientId = CLIENT_ID) =>
    startCopilotSignIn({
      clientId,
      issuer: fake.url,
      now: () => clock.now,
      async sleep(ms) {
        waits.push(ms);
        clock.now += ms;
        await whileWaiting();
      },
    });
  const logIn = async () => {
    const device = await start();
    fake.enterCode(device.userCode, "approve");
    const shown: string[] = [];
    const { credentials, models } = await signInWithDevice(key, device, (text) => void shown.push(text));
    await store.set(PROVIDER, credentials);
    return { token: credentials.accessToken, models, shown: shown.join("") };
  };
  const connect = (baseUrl = fake.url) =>
    createModels(
      {
        [PROVIDER]: { api: "openai-chat", baseUrl, fetch: createSubscriptionFetch(key, store) },
        own: { api: "openai-chat", baseUrl: own.baseUrl },
      },
      { redact: vault.redact, retry: { retries: 0 } },
    );
  const models = connect();
  const ask = (fallbacks: readonly string[] = []) => models.complete(MODEL, "Hi.", { fallbacks });
  return {
    fake,
    own,
    vault,
    store,
    waits,
    clock,
    start,
    logIn,
    connect,
    models,
    ask,
    onWait: (work: () => Promise<void>) => (whileWaiting = work),
  };
}

describe("the sign-in at GitHub", () => {
  it("shows the page and the code, and lists the models of the plan", async () => {
    const { fake, logIn } = await open();
    const { token, models, shown } = await logIn();
    expect(token).toMatch(/^gho_/);
    expect(shown).toContain(`${fake.url}/login/device`);
    expect(shown).toMatch(/code: [0-9A-F]{4}-[0-9A-F]{4}/);
    expect(shown).not.toContain(token);
    expect(models).toEqual([{ id: "gpt-5.2", contextWindow: 128_000 }]);
    expect(fake.requests.every(({ headers }) => headers["user-agent"] === "signalbox")).toBe(true);
  });

  it("waits while the approval is pending, and longer after slow_down", async () => {
    const { fake, start, waits, clock, onWait } = await open({ intervalS: 5 });
    const device = await start();
    onWait(async () => {
      // The second request arrives too early.
      if (waits.length === 2) clock.now -= 3_000;
      if (waits.length === 3) fake.enterCode(device.userCode, "approve");
    });
    await device.finish(AbortSignal.timeout(20_000));
    expect(waits).toEqual([5_000, 5_000, 10_000]);
  });

  it.each([
    ["a refusal by the person", "was refused on GitHub's page", "deny"],
    ["an expired code", "has expired", "expire"],
  ] as const)("ends after %s", async (_name, words, what) => {
    const { fake, start } = await open();
    const device = await start();
    if (what === "deny") fake.enterCode(device.userCode, "deny");
    else fake.expireCodes();
    await expect(device.finish(AbortSignal.timeout(20_000))).rejects.toThrow(words);
  });

  it("explains an unknown app, and an app without the device flow", async () => {
    const unknown = await open();
    await expect(unknown.start("Ov23bbbbbbbbbbbbbbbb")).rejects.toThrow("Correct `clientId`");
    const off = await open({ isDeviceFlowEnabled: false });
    await expect(off.start()).rejects.toThrow("Enable Device Flow");
  });

  it("fails if GitHub has not approved the app", async () => {
    const { fake, start } = await open();
    const device = await start();
    fake.enterCode(device.userCode, "approve");
    fake.setPolicy("app_not_approved");
    const key = { provider: PROVIDER, subscription: "copilot", baseUrl: fake.url } as const;
    await expect(signInWithDevice(key, device, () => {})).rejects.toThrow(
      /not allow this OAuth app.*API key/,
    );
  });

  it("refuses a page of another server", async () => {
    const { start } = await open({ verificationUri: "https://github.example/login/device" });
    await expect(start()).rejects.toThrow("another server: github.example");
  });
});

describe("a Copilot plan", () => {
  it("accepts the vendor's SDK with the token", async () => {
    const { fake, logIn } = await open();
    const { token } = await logIn();
    const client = new OpenAI({
      apiKey: token,
      baseURL: fake.url,
      maxRetries: 0,
      logLevel: "off",
      defaultHeaders: { "openai-intent": "conversation-edits", "x-initiator": "user" },
    });
    const messages = [{ role: "user", content: "Hi." }] as const;
    const answer = await client.chat.completions.create({ model: "gpt-5.2", messages: [...messages] });
    expect(answer.choices[0]?.message.content).toBe("From Copilot.");
    const stranger = new OpenAI({
      apiKey: "ghp_012345678901",
      baseURL: fake.url,
      maxRetries: 0,
      logLevel: "off",
    });
    await expect(stranger.models.list()).rejects.toThrow("Personal Access Tokens are not supported");
  });

  it("answers with the headers that the API requires, and names no other program", async () => {
    const { fake, logIn, ask } = await open();
    const { token } = await logIn();
    expect(await ask()).toMatchObject({ ok: true, text: "From Copilot." });
    const headers = fake.requests.at(-1)?.headers;
    expect(headers).toMatchObject({
      authorization: `Bearer ${token}`,
      "user-agent": "signalbox",
      "x-initiator": "user",
    });
    expect(JSON.stringify(headers)).not.toMatch(/vscode|editor|integration-id|opencode|GitHubCopilotChat/i);
  });

  it("marks requests with images, and those that continue after a tool call", async () => {
    const { fake, logIn, models } = await open();
    await logIn();
    const timestamp = 0;
    const image = { type: "image", source: { kind: "base64", data: IMAGE }, mimeType: "image/png" } as const;
    expect(await models.complete(MODEL, [{ role: "user", content: [image], timestamp }])).toMatchObject({
      ok: true,
    });
    expect(fake.requests.at(-1)?.headers).toMatchObject({ "copilot-vision-request": "true" });
    const tools = [
      { name: "now", description: "The time.", inputSchema: { type: "object", properties: {} } },
    ];
    const messages: readonly Message[] = [
      { role: "user", content: "The time?", timestamp },
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "call_1", name: "now", args: {}, argsText: "{}" }],
        provider: PROVIDER,
        model: "gpt-5.2",
        api: "openai-chat",
        stopReason: "tool_use",
        timestamp,
      },
      {
        role: "toolResult",
        toolCallId: "call_1",
        toolName: "now",
        content: [{ type: "text", text: "12:00" }],
        isError: false,
        timestamp,
      },
    ];
    expect(await models.complete(MODEL, { messages, tools })).toMatchObject({ ok: true });
    expect(fake.requests.at(-1)?.headers).toMatchObject({ "x-initiator": "agent" });
  });

  it.each([
    ["app_not_approved", "auth", "not allow this OAuth app"],
    ["feature_off", "auth", "github.com/settings/copilot"],
    ["quota_exceeded", "billing", "are used up"],
  ] as const)("reports %s with a remedy, once, and uses the fallback", async (policy, code, words) => {
    const { fake, logIn, ask } = await open();
    const { token } = await logIn();
    fake.setPolicy(policy);
    const before = fake.requests.length;
    const refused = await ask();
    expect(refused).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(words) } });
    expect(JSON.stringify(refused)).not.toContain(token);
    expect(fake.requests).toHaveLength(before + 1);
    expect(await ask(["own/gpt-5.2"])).toMatchObject({ ok: true, text: "From the fallback." });
    fake.setPolicy("allowed");
    expect(await ask()).toMatchObject({ ok: true, text: "From Copilot." });
  });

  it("uses the fallback after a rate limit and a revocation, and answers after a new sign-in", async () => {
    const { fake, logIn, ask } = await open();
    await logIn();
    fake.revoke();
    const refused = await ask();
    expect(refused).toMatchObject({ ok: false, error: { code: "auth" } });
    expect(JSON.stringify(refused)).toMatch(/revoked or expired.*models login plan/);
    const { token } = await logIn();
    expect(JSON.stringify(refused)).not.toContain(token);
    expect(await ask()).toMatchObject({ ok: true });
    fake.setPolicy("rate_limited");
    expect(await ask(["own/gpt-5.2"])).toMatchObject({ ok: true, text: "From the fallback." });
  });

  it("sends the token to no other server and follows no redirect", async () => {
    const { fake, own, logIn, ask, connect, store } = await open();
    await logIn();
    expect(await connect(own.baseUrl).complete(MODEL, "Hi.")).toMatchObject({ ok: false });
    fake.answerAt("/chat", () => Response.redirect(`${own.baseUrl}/chat/completions`, 307));
    expect(await ask()).toMatchObject({ ok: false });
    expect(own.requests).toEqual([]);
    const moved = getSignInKey(PROVIDER, { subscription: "copilot", githubHost: "company.ghe.com" });
    expect(moved).toMatchObject({ baseUrl: "https://copilot-api.company.ghe.com" });
    expect(moved && (await store.get(moved))).toBeUndefined();
  });
});
