/**
 * Tries to do more through `/mcp` than a token or a page may, on a server of the given sources. Prints the attacks that
 * succeed as JSON. A process of its own for each set of sources.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type * as Server from "@signalbox/server";
import { openStore } from "@signalbox/store";

const TOKEN = "the-gateways-own-token-of-this-proof";
const [sources = ""] = process.argv.slice(2);
const { createAuth, hashToken, startServer, createLiveHub }: typeof Server = await import(
  pathToFileURL(join(sources, "index.ts")).href
);

const store = await openStore({ path: ":memory:" });
const submissions: Server.Submission[] = [];
const sent: string[] = [];
const searched: string[] = [];
const quiet = (): void => {};
const known = (prefix: string) =>
  ["member:alice:web:plans", "member:bob:web:secret of bob"].filter((id) => id.startsWith(prefix));

/** Only what `/mcp` uses. Everything else would throw. */
const service = {
  version: "1.0.0",
  live: createLiveHub(quiet),
  agents: () => [{ id: "coder", name: "Coder", model: "a/b", demo: false, default: true }],
  async submit(submission: Server.Submission) {
    submissions.push(submission);
    const done = Promise.resolve({ state: "replied" as const, text: "done" });
    return { kind: "accepted" as const, messageId: submission.id, sessionKey: "key", done };
  },
  conversations: async (prefix: string) => known(prefix).map((id) => ({ id, title: id, agent: "coder" })),
  sessions: async () => [
    { key: "agent:coder:feishu:direct:bob", channel: "feishu", title: "secret of bob", updatedAt: 0 },
  ],
  async sendMessage(key: string) {
    sent.push(key);
  },
  admin: {
    async searchMemory(agent: string) {
      searched.push(agent);
      return { summary: "secret of bob", entries: [], notes: 0, turns: 0 };
    },
  },
};
const server = await startServer({
  host: "127.0.0.1",
  port: 0,
  allowedHosts: () => [],
  // The proof implements the part of the interface that is tested.
  service: service as unknown as Server.GatewayService,
  pageDir: "/does/not/exist",
  logger: { debug: quiet, warn: quiet, error: quiet },
  auth: createAuth({ token: TOKEN, store: store.access, kv: store.kv, now: Date.now }),
  hooks: () => ({ hooks: {}, defaultAgent: "coder" }),
  now: Date.now,
  onRefused: quiet,
});
for (const [name, role] of [
  ["alice", "member"],
  ["viewer", "viewer"],
  ["operator", "operator"],
] as const)
  await store.access.tokens.add({ name, role, hash: hashToken(`token-of-${name}`), createdAt: 0 });

async function call(token: string, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const client = new Client({ name: "attacker", version: "1" });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
  );
  try {
    return JSON.stringify(await client.callTool({ name, arguments: args }));
  } finally {
    await client.close();
  }
}

/** Sends a request as a page of another site could make the owner's browser send it. */
async function postAsPage(headers: Record<string, string>): Promise<string> {
  const params = { name: "ask_agent", arguments: { message: "from a page" } };
  const response = await fetch(`${server.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${TOKEN}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return response.text();
}

const attacks: Readonly<Record<string, () => Promise<boolean>>> = {
  "a viewer writes to people": async () => {
    await call("token-of-viewer", "send_message", { conversation: "x", text: "x" });
    return sent.length > 0;
  },
  "an operator writes to people": async () => {
    await call("token-of-operator", "send_message", { conversation: "x", text: "x" });
    return sent.length > 0;
  },
  "a viewer instructs an agent": async () => {
    await call("token-of-viewer", "ask_agent", { message: "x" });
    return submissions.some(({ sender }) => sender?.name === "viewer");
  },
  "a member reads the conversations of others": async () =>
    (await call("token-of-alice", "list_conversations")).includes("secret of bob"),
  "a member searches the memory": async () => {
    await call("token-of-alice", "search_memory", { query: "bob" });
    return searched.length > 0;
  },
  "a member speaks in the conversation of another": async () => {
    await call("token-of-alice", "ask_agent", { message: "x", conversation: "shared" });
    return submissions.some(
      ({ sender, conversation }) => sender?.name === "alice" && !conversation.includes("alice"),
    );
  },
  "a client's text counts as the owner's own words": async () => {
    await call(TOKEN, "ask_agent", { message: "/trust SOUL.md" });
    return submissions.some(({ from, verbatim }) => from === undefined || verbatim !== true);
  },
  "a page of another site": async () => {
    await postAsPage({ origin: "https://evil.example" });
    return submissions.some(({ text }) => text === "from a page");
  },
  "a form of another site": async () => {
    await postAsPage({ "content-type": "text/plain" });
    return submissions.some(({ text }) => text === "from a page");
  },
  "no token": async () => {
    await postAsPage({ authorization: "" });
    return submissions.some(({ text }) => text === "from a page");
  },
};

const through: string[] = [];
for (const [name, attempt] of Object.entries(attacks)) {
  for (const list of [submissions, sent, searched]) list.length = 0;
  if (await attempt().catch(() => false)) through.push(name);
}
await server.stop(0);
await store.close();
console.log(JSON.stringify({ tried: Object.keys(attacks).length, through }));
process.exit(0);
