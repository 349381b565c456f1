import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModels } from "@signalbox/llm-providers";
import { createVault } from "@signalbox/redaction";
import { type FakeChatGpt, startFakeChatGpt, startOpenAI } from "@signalbox/testkit/openai";
import { describe, expect, it, onTestFinished } from "vitest";
import { signInWithBrowser } from "../../src/cli/commands/browser-sign-in.ts";
import { signOut } from "../../src/cli/commands/models.ts";
import { createChatGptSignIn } from "../../src/configure/subscriptions/chatgpt.ts";
import { createChatGptFetch } from "../../src/configure/subscriptions/chatgpt-fetch.ts";
import { openSubscriptions } from "../../src/configure/subscriptions/credentials.ts";

const PROVIDER = "plan";

async function open() {
  const fake = await startFakeChatGpt({ script: () => ({ text: "From ChatGPT." }) });
  onTestFinished(() => fake.stop());
  const dir = mkdtempSync(join(tmpdir(), "subscriptions-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const vault = createVault();
  const store = openSubscriptions({ dir }, vault);
  const signIn = createChatGptSignIn({ issuer: fake.url });
  const { baseUrl } = fake;
  const clock = { now: Date.now() };
  const connect = (url = baseUrl, apiBase = url) =>
    createModels(
      {
        [PROVIDER]: {
          api: "openai-responses",
          baseUrl: url,
          fetch: createChatGptFetch({
            provider: PROVIDER,
            baseUrl: apiBase,
            store,
            signIn,
            now: () => clock.now,
          }),
        },
      },
      { redact: vault.redact, retry: { retries: 0 } },
    );
  const logIn = async () => {
    const started = await signIn.start(1455);
    const tokens = await started.finish(fake.approve(started.url));
    await store.set(PROVIDER, { ...tokens, baseUrl });
    return tokens;
  };
  const ask = (models = connect()) => models.complete(`${PROVIDER}/gpt-5.2`, "Hi.");
  return { fake, dir, vault, store, signIn, baseUrl, clock, connect, logIn, ask };
}

const countRefreshes = ({ requests }: FakeChatGpt): number =>
  requests.filter(({ text }) => text.includes("grant_type=refresh_token")).length;

describe("a ChatGPT subscription", () => {
  it("answers after a sign-in, and stores the tokens in files of the owner", async () => {
    const { fake, dir, logIn, ask } = await open();
    await logIn();
    expect(await ask()).toMatchObject({ ok: true, text: "From ChatGPT." });
    const request = fake.requests.at(-1);
    expect(request?.headers).toMatchObject({ originator: "signalbox", "chatgpt-account-id": "account-1" });
    const folder = join(dir, "secrets", "subscriptions");
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
  });

  it("refreshes a rejected token once for concurrent runs and processes", async () => {
    const { fake, logIn, ask, connect } = await open();
    await logIn();
    fake.expire();
    const answers = await Promise.all([ask(), ask(connect()), ask(connect())]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect(countRefreshes(fake)).toBe(1);
  });

  it("refreshes a token before it expires", async () => {
    const { fake, logIn, ask, clock } = await open();
    clock.now = (await logIn()).expiresAt - 1_000;
    expect(await ask()).toMatchObject({ ok: true });
    expect(countRefreshes(fake)).toBe(1);
    expect(fake.requests.filter(({ path }) => path.endsWith("/responses"))).toHaveLength(1);
  });

  it("fails without a cooldown after a revocation, and answers after a new sign-in", async () => {
    const { fake, logIn, ask, connect, store, baseUrl } = await open();
    const models = connect();
    await logIn();
    fake.revoke();
    const refused = await ask(models);
    expect(refused).toMatchObject({ ok: false, error: { code: "auth" } });
    expect(JSON.stringify(refused)).toContain("signalbox models login plan");
    expect(await store.get({ provider: PROVIDER, subscription: "chatgpt", baseUrl })).toBeUndefined();
    await logIn();
    expect(await ask(models)).toMatchObject({ ok: true });
  });

  it("tries the fallback if the vendor ends the access", async () => {
    const { fake, logIn, store, signIn, baseUrl } = await open();
    const other = await startOpenAI({ script: () => ({ text: "From the fallback." }) });
    onTestFinished(() => other.stop());
    await logIn();
    fake.answerAt("/backend-api", () => new Response("{}", { status: 401 }));
    const models = createModels({
      [PROVIDER]: {
        api: "openai-responses",
        baseUrl,
        fetch: createChatGptFetch({ provider: PROVIDER, baseUrl, store, signIn }),
      },
      own: { api: "openai-chat", baseUrl: other.baseUrl },
    });
    const answer = await models.complete(`${PROVIDER}/gpt-5.2`, "Hi.", { fallbacks: ["own/gpt-5.2"] });
    expect(answer).toMatchObject({ ok: true, text: "From the fallback." });
  });

  it("sends the token to no other base URL and follows no redirect", async () => {
    const { fake, logIn, ask, connect } = await open();
    const seen: string[] = [];
    const thief = await startOpenAI({
      script: (request) => {
        seen.push(JSON.stringify(request));
        return { text: "Stolen." };
      },
    });
    onTestFinished(() => thief.stop());
    await logIn();
    expect(await ask(connect(thief.baseUrl))).toMatchObject({ ok: false });
    expect(await ask(connect(thief.baseUrl, fake.baseUrl))).toMatchObject({ ok: false });
    fake.answerAt("/backend-api", () => Response.redirect(`${thief.baseUrl}/responses`, 307));
    expect(await ask()).toMatchObject({ ok: false });
    fake.answerAt("/oauth", () => Response.redirect(`${thief.baseUrl}/responses`, 307));
    fake.answerAt("/backend-api", () => new Response("{}", { status: 401 }));
    expect(await ask()).toMatchObject({ ok: false });
    expect(thief.requests).toEqual([]);
    expect(seen).toEqual([]);
  });

  it("removes the token from error messages of the vendor", async () => {
    const { fake, logIn, ask } = await open();
    const { accessToken } = await logIn();
    const body = JSON.stringify({ error: { message: `Invalid token ${accessToken}`, type: "invalid" } });
    fake.answerAt("/backend-api", () => new Response(body, { status: 400 }));
    const refused = await ask();
    expect(refused.ok).toBe(false);
    expect(JSON.stringify(refused)).toContain("Invalid token");
    expect(JSON.stringify(refused)).not.toContain(accessToken);
  });

  it("refuses a callback with another state", async () => {
    const { fake, signIn } = await open();
    const started = await signIn.start(1455);
    const callback = fake.approve(started.url);
    callback.searchParams.set("state", "forged");
    await expect(started.finish(callback)).rejects.toThrow("the sign-in failed");
    expect(fake.requests).toEqual([]);
  });
});

describe("the command models", () => {
  it("signs in when the browser returns to this machine", async () => {
    const { fake, signIn } = await open();
    const tokens = await signInWithBrowser(signIn, {
      ports: [0],
      show: (url) => {
        const callback = fake.approve(url);
        callback.hostname = "127.0.0.1";
        void fetch(callback);
      },
      signal: AbortSignal.timeout(20_000),
    });
    expect(tokens.accountId).toBe("account-1");
  });

  it("signs in with a pasted address", async () => {
    const { fake, signIn } = await open();
    let page = "";
    const tokens = await signInWithBrowser(signIn, {
      ports: [0],
      show: (url) => {
        page = url;
      },
      ask: async () => fake.approve(page, "account-2").href,
      signal: AbortSignal.timeout(20_000),
    });
    expect(tokens.accountId).toBe("account-2");
  });

  it("signs out and revokes the tokens", async () => {
    const { signIn, store, baseUrl, logIn, ask } = await open();
    const tokens = await logIn();
    const key = { provider: PROVIDER, subscription: "chatgpt", baseUrl } as const;
    const out = await signOut(key, store, signIn);
    expect(out).toEqual({ wasSignedIn: true, isRevoked: true });
    expect(await ask()).toMatchObject({ ok: false });
    await store.set(PROVIDER, { ...tokens, baseUrl });
    expect(await ask()).toMatchObject({ ok: false });
    expect(await signOut(key, store, signIn)).toMatchObject({ wasSignedIn: false });
  });
});
