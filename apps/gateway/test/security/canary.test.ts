import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { createClient, isClientError } from "@signalbox/client";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { OWNED } from "../support/feishu-talk.ts";
import {
  APP,
  exampleConfig,
  feishuAccount,
  KEY,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { serve } from "../support/site.ts";

/** Secrets that the gateway is told of, by where it is told. */
const KNOWN = {
  "gateway.auth.token": TOKEN,
  "providers.apiKey": KEY,
  "providers.headers, a word of it": "canary-in-a-header-7Qw2",
  "providers.headers, a key of its own": "canary/of+a=proxy-9Zx4",
  "hooks.secret": "canary-of-a-hook-3Rt8-Lm5",
  "channels.appSecret": APP.appSecret,
  "channels.encryptKey": APP.encryptKey,
  "channels.verificationToken": APP.verificationToken,
  "a file": "canary in a file & more 5Yh1",
  "a program": "canary-said-by-a-program-8Uj6",
  "the environment, by its name": "canary-of-the-mail-2Ok7",
  "the environment, in lower case": "canary-lower-case-4Pl9",
  "the environment, in an address": "canary-of-the-database-6Mn3",
  "mcp.servers.env": "canary-of-a-server-9Dd1",
  "mcp.servers.args": "canary-in-an-argument-4Jk2",
  "mcp.servers.url, its query": "canary-in-a-query-5Tt2",
};

/** Secrets that nobody has told it of, by what they look like. */
const LOOKALIKES = {
  "a vendor's key": `sk-ant-api03-${"Zq7".repeat(31)}AA`,
  "a token of GitHub": `ghp_${"kR4".repeat(12)}`,
  "a token of Slack": "xoxb-123456789012-1234567890123-Ab3dEf6hIj9lMn2pQr5tUv8x",
  "a bearer token": "Bearer canary.bearer.1234567890",
  "a JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJlLW9mLWNhbmFyeQ",
  "a token of a client": `sbt_${"Vb5_".repeat(11).slice(0, 43)}`,
  "a private key": `-----BEGIN PRIVATE KEY-----\n${"MIIEvQIBADANBgkq".repeat(12)}\n-----END PRIVATE KEY-----`,
  "an address with a password": "https://ann:canary-9Tg2@example.org/x",
};

/** How a vendor may quote a secret that it was sent. */
const ENCODINGS: Readonly<Record<string, (secret: string) => string>> = {
  plain: (secret) => secret,
  "URL-encoded": encodeURIComponent,
  base64: (secret) => Buffer.from(secret).toString("base64"),
  "base64 of more": (secret) => Buffer.from(`user:${secret}`).toString("base64"),
  hex: (secret) => Buffer.from(secret).toString("hex"),
  JSON: (secret) => JSON.stringify({ secret }),
};

/** Every way in which one of the secrets could stand in a text. */
function canaries(): [string, string][] {
  const known = Object.entries(KNOWN).flatMap(([name, secret]) =>
    Object.entries(ENCODINGS).map(([how, encode]): [string, string] => [
      `${name}, ${how}`,
      how === "JSON" ? JSON.stringify(secret).slice(1, -1) : encode(secret),
    ]),
  );
  // Of an address the password is what counts.
  const shapes = Object.entries({ ...LOOKALIKES, "an address with a password": "canary-9Tg2" });
  return [...known, ...shapes];
}

/** Where secrets belong: what the gateway is told them by, and earlier states of that. */
const VAULT: ReadonlySet<string> = new Set(["signalbox.yaml", "config-history", "key", "token"]);

/** Everything in a folder but the vault, however deep. */
function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !VAULT.has(path.slice(folder.length + 1).split("/")[0] ?? ""));
}

/** What a gateway has written: its log, its home, a backup of it, and what its commands print. */
async function written(world: World, log: string): Promise<string> {
  const saved = join(world.dir, "saved");
  const commands = [
    ["config", "show"],
    ["config", "check", "--json"],
    ["config", "history"],
    ["doctor"],
    ["doctor", "--json"],
    ["outbox", "list", "--all"],
    ["audit", "list"],
    ["sessions", "--json"],
    ["why", "om_canary"],
    ["trace", "om_canary"],
    ["prompt", "coder"],
    ["usage"],
    ["approvals", "log"],
    ["backup", saved, "--json"],
  ];
  const printed: string[] = [];
  for (const args of commands) {
    const { code, out, err } = await world.command(args);
    // Otherwise it has shown nothing.
    expect([args, code]).not.toEqual([args, 64]);
    printed.push(out, err);
  }
  const files = [world.home.dir, saved].flatMap(filesIn).map((path) => readFileSync(path, "latin1"));
  return [log, ...files, ...printed].join("\n");
}

/** What the page is told of a conversation: every frame of its socket, and what it asks for besides. */
async function shownOnPage(url: string): Promise<string> {
  const client = createClient({ baseUrl: url, token: TOKEN });
  const told: unknown[] = [];
  try {
    for await (const frame of client.chat("coder", "canary", "hello")) told.push(frame);
  } catch (error) {
    told.push(isClientError(error) ? { ...error, message: error.message } : String(error));
  }
  told.push(await client.history("canary"), await client.conversations(), await client.status());
  told.push(await client.sessions(), await client.approvals(), await client.me(), await client.agents());
  return JSON.stringify(told);
}

describe("twenty-four kinds of secrets, however a vendor quotes them", () => {
  it("stand nowhere outside of the vault", async () => {
    const world = await openWorld();
    const told: Promise<string>[] = [];
    await using site = await serve((request, response) => {
      told.push(text(request).then((body) => JSON.stringify(request.headers) + body));
      response.end("{}");
    });
    const watched = ["message_received", "before_prompt_build", "before_reply", "message_sent", "run_end"];
    const watching = watched.map((at) => [at.replaceAll("_", "-"), { at, url: site.url }]);
    writeFileSync(join(world.home.dir, "key"), `${KNOWN["a file"]}\n`, { mode: 0o600 });
    const base = exampleConfig({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "trace" },
      hooks: { build: { secret: KNOWN["hooks.secret"] }, ...Object.fromEntries(watching) },
      channels: { feishu: { accounts: { main: feishuAccount() } } },
    });
    const anthropic = {
      api: "anthropic-messages",
      baseUrl: world.anthropic.url,
      apiKey: KEY,
      headers: {
        "x-proxy": `Token ${KNOWN["providers.headers, a word of it"]}`,
        "x-key": KNOWN["providers.headers, a key of its own"],
      },
    };
    const elsewhere = {
      file: { api: "openai-chat", baseUrl: "http://127.0.0.1:9/v1", apiKey: { file: "key" } },
      program: {
        api: "openai-chat",
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: { command: ["printf", KNOWN["a program"]] },
      },
    };
    const servers = {
      process: {
        command: "no-such-server",
        args: ["--db-pass", KNOWN["mcp.servers.args"]],
        env: { MAIL_PASS: KNOWN["mcp.servers.env"] },
      },
      address: { url: `http://127.0.0.1:9/sse?apikey=${KNOWN["mcp.servers.url, its query"]}` },
    };
    world.configure({ ...base, mcp: { servers }, models: { providers: { anthropic, ...elsewhere } } });
    const all = canaries();
    const everything = [
      ...Object.values(KNOWN).flatMap((secret) => Object.values(ENCODINGS).map((encode) => encode(secret))),
      ...Object.values(LOOKALIKES),
    ].join(" | ");
    world.script(() => ({ error: { status: 400, message: everything } }));
    const child = await world.startChild([], {
      ...world.env,
      SMTP_PASS: KNOWN["the environment, by its name"],
      some_api_key: KNOWN["the environment, in lower case"],
      DATABASE_URL: `postgres://app:${KNOWN["the environment, in an address"]}@127.0.0.1/app`,
    });
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const ask = async (path: string, body?: object): Promise<string> => {
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(child.url + path, init)).text();
    };
    const answers = [
      await ask("/v1/chat/completions", { model: "coder", messages: [{ role: "user", content: "hello" }] }),
      await ask("/v1/responses", { model: "coder", input: "hello" }),
    ];
    const page = await shownOnPage(child.url);
    await child.post(textMessage("hello", { senderId: ZHANG, messageId: "om_canary" }));
    await expect.poll(async () => JSON.parse(await ask("/api/status")).inboxPending).toBe(0);
    for (const path of ["/api/status", "/api/trace/om_canary", "/metrics", "/api/conversations"])
      answers.push(await ask(path));
    expect(answers[0]).toContain("[redacted] | [redacted]");
    await child.end("SIGTERM");
    const hooks = (await Promise.all(told)).join("\n");
    // What the vendor has quoted did come there, without the secrets.
    for (const place of [page, hooks]) expect(place).toContain("[redacted] | [redacted]");
    expect(site.requests.length).toBeGreaterThan(watched.length);
    expect(world.feishu.sent.length).toBeGreaterThan(0);
    answers.push(page, hooks, JSON.stringify(world.feishu.sent));
    const left = [...answers, await written(world, child.stderr() + child.stdout())].join("\n");
    expect(left).toContain("[redacted] | [redacted]");
    expect(Object.keys(KNOWN).length + Object.keys(LOOKALIKES).length).toBe(24);
    // What stands in the file of the configuration is where it belongs, and was not looked at.
    expect(all.filter(([, canary]) => left.includes(canary)).map(([name]) => name)).toEqual([]);
  });
});

describe("a known secret in what a model thinks and calls tools with", () => {
  it("is not sent, shown, stored or printed", async () => {
    const world = await openWorld();
    const config = exampleConfig({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "trace" },
      access: OWNED,
      agents: { list: [{ id: "coder", tools: { allow: ["message", "write", "cron"] } }] },
    });
    world.configure(config);
    const forms = [KEY, TOKEN].flatMap((secret) => Object.values(ENCODINGS).map((encode) => encode(secret)));
    const everything = forms.join(" | ");
    const calls = [
      { name: "message", input: { action: "send", message: everything } },
      { name: "write", input: { file_path: "notes.txt", content: everything } },
      { name: "cron", input: { action: "add", text: everything, in: "2h" } },
    ];
    const turn = {
      thinking: everything,
      toolCalls: calls.map((call, index) => ({ id: `toolu_${index}`, ...call })),
    };
    world.script((_, index) => (index % 2 === 0 ? turn : { text: "Done." }));
    const child = await world.startChild([], world.env);
    const page = await shownOnPage(child.url);
    await child.post(textMessage("hello", { senderId: ZHANG, messageId: "om_canary" }));
    const sent = () => JSON.stringify(world.feishu.sent);
    await expect.poll(sent).toContain("Done.");
    await child.end("SIGTERM");
    for (const place of [page, sent()]) expect(place).toContain("[redacted] | [redacted]");
    const left = [page, sent(), await written(world, child.stderr() + child.stdout())].join("\n");
    expect(forms.filter((form) => left.includes(form))).toEqual([]);
  });
});
