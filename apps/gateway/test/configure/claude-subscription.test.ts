import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { createModels } from "@signalbox/llm-providers";
import { createVault } from "@signalbox/redaction";
import { startFakeClaudePlan } from "@signalbox/testkit/anthropic";
import { startOpenAI } from "@signalbox/testkit/openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { signOut } from "../../src/cli/commands/models.ts";
import { claude, readSetupToken } from "../../src/configure/subscriptions/claude.ts";
import { openSubscriptions } from "../../src/configure/subscriptions/credentials.ts";
import { createSubscriptionFetch } from "../../src/configure/subscriptions/vendors.ts";

const PROVIDER = "plan";
const MODEL = `${PROVIDER}/claude-sonnet-4-6`;

async function open() {
  const fake = await startFakeClaudePlan({ script: () => ({ text: "From the plan." }) });
  const own = await startOpenAI({ script: () => ({ text: "From the fallback." }) });
  onTestFinished(() => fake.stop());
  onTestFinished(() => own.stop());
  const dir = mkdtempSync(join(tmpdir(), "claude-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const vault = createVault();
  const store = openSubscriptions({ dir }, vault);
  const key = { provider: PROVIDER, subscription: "claude", baseUrl: fake.url } as const;
  const connect = (headers: Record<string, string> = {}, baseUrl = fake.url) =>
    createModels(
      {
        [PROVIDER]: {
          api: "anthropic-messages",
          baseUrl,
          headers,
          fetch: createSubscriptionFetch(key, store),
        },
        own: { api: "openai-chat", baseUrl: own.baseUrl },
      },
      { redact: vault.redact },
    );
  const models = connect();
  const logIn = async () => {
    const token = fake.issueToken();
    await store.set(PROVIDER, { ...readSetupToken(token, Date.now()), baseUrl: fake.url });
    return token;
  };
  const ask = (fallbacks: readonly string[] = []) => models.complete(MODEL, "Hi.", { fallbacks });
  return { fake, own, dir, vault, store, key, connect, logIn, ask };
}

describe("the fake server of Claude plans", () => {
  it("accepts the vendor's SDK with an auth token and the beta only", async () => {
    const { fake } = await open();
    const send = (authToken: string, headers: Record<string, string>) =>
      new Anthropic({
        authToken,
        apiKey: null,
        baseURL: fake.url,
        maxRetries: 0,
        defaultHeaders: headers,
      }).messages
        .create({
          model: "claude-sonnet-4-6",
          max_tokens: 16,
          messages: [{ role: "user", content: "Hi." }],
        })
        .then(
          ({ content }) => JSON.stringify(content),
          (error: Error) => error.message,
        );
    const token = fake.issueToken();
    const beta = { "anthropic-beta": "oauth-2025-04-20" };
    expect(await send(token, beta)).toContain("From the plan.");
    expect(await send(token, {})).toContain("currently not supported");
    expect(await send(token, { "anthropic-beta": "oauth-2024-01-01" })).toContain("currently not supported");
    expect(await send(`${token}x`, beta)).toContain("Invalid bearer token");
    expect((await fetch(`${fake.url}/v1/messages`, { method: "POST", headers: beta })).status).toBe(401);
  });
});

describe("a Claude plan", () => {
  it("answers with the setup token, and does not imitate Claude Code", async () => {
    const { fake, dir, logIn, ask } = await open();
    const token = await logIn();
    expect(await ask()).toMatchObject({ ok: true, text: "From the plan." });
    const [request] = fake.requests;
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      "anthropic-beta": "oauth-2025-04-20",
      "user-agent": "signalbox",
    });
    expect(request?.headers).not.toHaveProperty("x-api-key");
    expect(JSON.stringify(request)).not.toMatch(/claude.?(?:code|cli)|x-app/i);
    const folder = join(dir, "secrets", "subscriptions");
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  });

  it("sends its own name and token even if the configuration has other headers", async () => {
    const { fake, logIn, connect } = await open();
    const token = await logIn();
    const headers = {
      "user-agent": "claude-cli/2.1",
      authorization: "Bearer other",
      "anthropic-beta": "context-1m-2025-08-07",
    };
    expect(await connect(headers).complete(MODEL, "Hi.")).toMatchObject({ ok: true });
    expect(fake.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${token}`,
      "anthropic-beta": "context-1m-2025-08-07,oauth-2025-04-20",
      "user-agent": "signalbox",
    });
  });

  it.each([
    ["extra_usage_off", "billing", "claude.ai/settings/usage"],
    ["claude_code_only", "auth", "only from Claude Code"],
    ["organization_forbids", "auth", "organization"],
  ] as const)("reports %s with a remedy, once, and uses the fallback", async (policy, code, words) => {
    const { fake, logIn, ask } = await open();
    const token = await logIn();
    fake.setPolicy(policy);
    const refused = await ask();
    expect(refused).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(words) } });
    expect(JSON.stringify(refused)).not.toContain(token);
    expect(fake.requests).toHaveLength(1);
    expect(await ask(["own/gpt-5.2"])).toMatchObject({ ok: true, text: "From the fallback." });
    fake.setPolicy("allowed");
    expect(await ask()).toMatchObject({ ok: true, text: "From the plan." });
  });

  it("asks for a new sign-in after an expiry and a revocation, and then answers at once", async () => {
    const { fake, logIn, ask } = await open();
    expect(JSON.stringify(await ask())).toContain("nobody has signed in");
    for (const end of [fake.expire, fake.revoke]) {
      end(await logIn());
      const refused = await ask();
      expect(refused).toMatchObject({ ok: false, error: { code: "auth" } });
      expect(JSON.stringify(refused)).toMatch(/setup token (?:has expired|was revoked).*models login plan/);
      await logIn();
      expect(await ask()).toMatchObject({ ok: true });
    }
    expect(fake.requests).toHaveLength(4);
  });

  it("reads a long refusal quickly", () => {
    const { user } = process.cpuUsage();
    expect(claude.explain(400, "third-party apps ".repeat(20_000))).toBeUndefined();
    // In microseconds. A search for the rest after each mention takes some seconds.
    expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
  });

  it("treats other refusals like those of an API key", async () => {
    const { fake, logIn, ask } = await open();
    await logIn();
    const body = { type: "error", error: { type: "rate_limit_error", message: "Slow down." } };
    fake.answerAt("/v1/messages", () =>
      Response.json(body, { status: 429, headers: { "retry-after": "60" } }),
    );
    expect(await ask()).toMatchObject({ ok: false, error: { code: "rate_limit" } });
  });

  it("sends the token to no other server and follows no redirect", async () => {
    const { fake, own, logIn, ask, connect, store, key } = await open();
    const token = await logIn();
    expect(await connect({}, own.baseUrl).complete(MODEL, "Hi.")).toMatchObject({ ok: false });
    fake.answerAt("/v1/messages", () => Response.redirect(`${own.baseUrl}/chat/completions`, 307));
    expect(await ask()).toMatchObject({ ok: false });
    expect(own.requests).toEqual([]);
    expect(await store.get({ ...key, baseUrl: own.baseUrl })).toBeUndefined();
    expect(await store.get({ ...key, subscription: "copilot" })).toBeUndefined();
    expect((await store.get(key))?.accessToken).toBe(token);
  });

  it("removes the token from error messages of the vendor", async () => {
    const { fake, logIn, ask } = await open();
    const token = await logIn();
    const body = { type: "error", error: { type: "invalid_request_error", message: `Odd: ${token}` } };
    fake.answerAt("/v1/messages", () => Response.json(body, { status: 400 }));
    const refused = await ask();
    expect(JSON.stringify(refused)).toContain("Odd: ");
    expect(JSON.stringify(refused)).not.toContain(token);
  });

  it("removes the token at the sign-out", async () => {
    const { logIn, key, store, ask } = await open();
    await logIn();
    expect(await signOut(key, store)).toEqual({ wasSignedIn: true, isRevoked: false });
    expect(await ask()).toMatchObject({ ok: false });
  });
});

describe("a pasted setup token", () => {
  it("may be wrapped by the terminal", () => {
    const token = `sk-ant-oat01-${"aB3_".repeat(20)}AA`;
    const wrapped = `  ${token.slice(0, 40)}\n${token.slice(40)}\n`;
    expect(readSetupToken(wrapped, 0)).toMatchObject({ accessToken: token });
  });

  it.each([
    ["sk-ant-api03-0123456789012345678901234567890123456789AA", "API key"],
    ["hello", "claude setup-token"],
    ["", "claude setup-token"],
  ])("is refused without repeating it: %s", (pasted, words) => {
    expect(() => readSetupToken(pasted, 0)).toThrow(words);
    if (pasted !== "") expect(() => readSetupToken(pasted, 0)).not.toThrow(pasted);
  });
});
