import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { API_ROUTES, SESSION_KEY_HEADER, SignedIn } from "@signalbox/protocol";
import { openStore } from "@signalbox/store";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../src/app.ts";
import { createAuth, type GatewayService, hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryAdmin } from "./memory-admin.ts";
import { createMemoryService } from "./memory-service.ts";

const HOOK = "the-secret-of-the-hook";
/** Routes that members may call, limited to their own conversations. All other routes require an owner. */
const MEMBERS = [
  "GET /api/me",
  "GET /api/agents",
  "GET /api/commands",
  "GET /api/conversations",
  "GET /api/conversations/:id/messages",
  "GET /api/conversations/:id/events",
  "POST /api/conversations/:id/messages",
  "POST /api/conversations/:id/abort",
  "POST /api/conversations/:id/rename",
  "POST /api/conversations/:id/speech",
  "POST /api/conversations/:id/remove",
  "PUT /api/uploads/:id",
  "POST /api/logout",
  "GET /v1/models",
  "GET /v1/models/:id",
  "POST /v1/chat/completions",
  "POST /v1/responses",
  "POST /mcp",
];
/** Routes that a role may call that reads and writes, but gives nobody instructions, rights or code. */
const WRITES = [
  "POST /api/approvals/:id",
  "POST /api/maintenance/prune",
  "POST /api/maintenance/vacuum",
  "POST /api/memory/:agent/forget",
  "POST /api/models/try",
  "POST /api/outbox/:id/drop",
  "POST /api/outbox/:id/retry",
  "POST /api/outbox/changed",
  "POST /api/pairings/revoke",
  "POST /api/schedules/:id/pause",
  "POST /api/schedules/:id/remove",
  "POST /api/schedules/:id/run",
];
/** Routes for owners only. */
const OWNERS = [
  "POST /api/agents/:id/file",
  "POST /api/configuration",
  "POST /api/configuration/check",
  "POST /api/configuration/rollback",
  "POST /api/mcp/:name/accept",
  "POST /api/mcp/:name/callback",
  "POST /api/mcp/:name/login",
  "POST /api/mcp/:name/logout",
  "POST /api/memory/:agent/add",
  "POST /api/memory/:agent/edit",
  "POST /api/pairings/approve",
  "POST /api/schedules",
  "POST /api/setup/account",
  "POST /api/setup/model",
  "POST /api/setup/provider",
  "POST /api/sign-in-links",
  "POST /api/sign-ins/:id/end",
  "POST /api/skills",
  "POST /api/skills/approve",
  "POST /api/tokens",
  "POST /api/tokens/:name/revoke",
  "POST /api/trust",
];
/** Routes for every token. `/mcp` offers the tools that the scopes of the token permit. */
const FOR_TOKENS = ["GET /api/me", "GET /api/agents", "POST /api/logout", "POST /mcp"];
/** Routes that a browser session may only call within an hour after its sign-in. */
const SENSITIVE = [
  "POST /api/agents/:id/file",
  "POST /api/configuration",
  "POST /api/configuration/check",
  "POST /api/configuration/rollback",
  "POST /api/mcp/:name/accept",
  "POST /api/mcp/:name/login",
  "POST /api/memory/:agent/add",
  "POST /api/memory/:agent/edit",
  "POST /api/setup/account",
  "POST /api/setup/model",
  "POST /api/setup/provider",
  "POST /api/skills",
  "POST /api/skills/approve",
  "POST /api/tokens",
];
/** A token of each role. */
const HOLDERS = [
  { name: "alice", role: "member" },
  { name: "vera", role: "viewer" },
  { name: "oscar", role: "operator" },
  { name: "olga", role: "owner" },
] as const;
/** Routes whose body is a file. The body of all others is JSON. */
const OF_BYTES = ["PUT /api/uploads/:id"];
/** Routes that do not require a token of the gateway. */
const OF_OTHER_SECRETS = ["POST /api/login", "POST /hooks/:name"];
/** Routes for a browser that is not signed in yet. They check the origin and the content type like all others. */
const PUBLIC = ["GET /api/sign-in-methods", "POST /api/login/oidc", "POST /api/login/proxy"];
/** Routes of the OpenAI surface, which the application does not list. */
const OPENAI = MEMBERS.filter((route) => route.includes(" /v1/"));
/** Routes without secrets, which any page may request. */
const FOR_ALL = ["GET /healthz", "GET /readyz", "GET /*"];
/** Routes for platforms. Channels verify the signatures. */
const WEBHOOKS = /^(GET|POST) \/channels\//;

/** Routes that a browser reaches from other sites. The `state` in the query is the secret. */
const CALLBACKS = [
  "GET /oauth/mcp/callback",
  "GET /oauth/oidc/callback",
  // The signature of the logout token is the credential.
  "POST /oauth/oidc/backchannel-logout",
];

const store = await openStore({ path: ":memory:" });
afterAll(() => store.close());

/** Lists all routes of the server. */
function routes(): readonly string[] {
  const quiet = (): void => {};
  const app = createApp({
    service: createMemoryService(),
    auth: createAuth({ token: TOKEN, store: store.access, kv: store.kv }),
    allowedHosts: () => new Set(),
    connections: { isFull: () => false, add: () => quiet, stop: quiet },
    hooks: () => ({ hooks: {}, defaultAgent: "second" }),
    pageDir: tmpdir(),
    logger: { debug: quiet, warn: quiet, error: quiet },
    now: Date.now,
    onRefused: quiet,
  });
  const listed = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);
  return [...new Set([...listed, ...OPENAI])].filter(
    (route) => !FOR_ALL.includes(route) && !CALLBACKS.includes(route) && !WEBHOOKS.test(route),
  );
}

/** Starts a server and records which methods of its service are called. */
async function openWatched(now: () => number = Date.now) {
  const called: string[] = [];
  const watch = <T extends object>(target: T): T =>
    new Proxy<T>(target, {
      get(object, name, receiver) {
        called.push(String(name));
        return Reflect.get(object, name, receiver);
      },
    });
  const service = createMemoryService();
  const watched = watch<GatewayService>({ ...service, admin: watch(createMemoryAdmin()) });
  const { url, access } = await openServer(watched, { now });
  for (const { name, role } of HOLDERS)
    await access.tokens.add({ name, role, hash: hashToken(`secret-of-${name}`), createdAt: 0 });
  called.length = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onTestFinished(() => agent.destroy());
  const { host, hostname, port } = new URL(url);
  const send = (route: string, headers: Readonly<Record<string, string>>): Promise<number> => {
    const [method = "", pattern = ""] = route.split(" ");
    const path = pattern
      .replace(":name", "build")
      .replace(":agent", "x")
      .replace(/:id(\{.*\})?/, "x");
    const body = method === "GET" ? "" : `{"token":"${TOKEN}","state":"broke"}`;
    const type = OF_BYTES.includes(route) ? "application/octet-stream" : "application/json";
    const typed = { "content-type": type, "content-length": String(body.length) };
    return new Promise((resolve, reject) => {
      const sent = request({ agent, hostname, port, method, path, headers: { host, ...typed, ...headers } });
      sent.on("error", reject).on("response", (response) => {
        // An event stream does not end by itself.
        if (response.headers["content-type"]?.startsWith("text/event-stream")) response.destroy();
        else response.resume();
        response.on("close", () => resolve(response.statusCode ?? 0));
      });
      sent.end(body);
    });
  };
  const signIn = async (): Promise<Readonly<Record<string, string>>> => {
    const response = await fetch(`${url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token: TOKEN }),
    });
    const { sessionKey } = SignedIn.parse(await response.json());
    const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
    return { cookie, [SESSION_KEY_HEADER]: sessionKey };
  };
  return { host, port, called, send, signIn };
}

function credentialsOf(route: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${route.includes("/hooks/") ? HOOK : TOKEN}` };
}

describe("every route", () => {
  it("is covered by this test", () => {
    const all = routes();
    expect(all.length).toBeGreaterThan(25);
    expect([...MEMBERS, ...OF_OTHER_SECRETS].filter((route) => !all.includes(route))).toEqual([]);
  });

  it("is described by the protocol with its access", () => {
    const described = API_ROUTES.map(({ method, path }) => `${method} ${path}`);
    expect(described.toSorted()).toEqual(
      routes()
        .filter((route) => route.includes(" /api/"))
        .toSorted(),
    );
    const forMembers = API_ROUTES.filter(({ access }) => access === "client" || access === "chat");
    expect(forMembers.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      MEMBERS.filter((route) => route.includes(" /api/")).toSorted(),
    );
  });

  it("refuses pages of other sites and ports, and rebound host names, even with the right secret", async () => {
    const { host, port, called, send } = await openWatched();
    const hosts = [
      host,
      `localhost:${port}`,
      "rebound.example",
      `rebound.example:${port}`,
      "127.0.0.1.evil.example",
    ];
    const origins = [undefined, `http://${host}`, "http://127.0.0.1:9999", "https://evil.example", "null"];
    const sites = [undefined, "same-origin", "none", "same-site", "cross-site"];
    const claims = hosts.flatMap((named) =>
      origins.flatMap((origin) => sites.map((site) => ({ named, origin, site }))),
    );
    const foreign = claims.filter(({ named, origin, site }) => {
      const isOurs = hosts.indexOf(named) < 2 && (origin === undefined || origin === `http://${named}`);
      return !isOurs || !(site === undefined || site === "same-origin" || site === "none");
    });
    expect(foreign.length).toBeGreaterThan(100);
    const entryPoints = new Set<string>();
    for (const route of routes()) {
      // The routes of an entry point share the check, so that all claims are only made for the first one.
      const entryPoint = route.replace(/^\w+ (\/[^/]*).*$/, "$1");
      const claimed = entryPoints.has(entryPoint) ? foreign.filter((_, at) => at % 12 === 0) : foreign;
      entryPoints.add(entryPoint);
      const answers = claimed.map(async ({ named, origin, site }) => {
        const claimed = {
          host: named,
          ...(origin === undefined ? {} : { origin }),
          ...(site === undefined ? {} : { "sec-fetch-site": site }),
        };
        return { claimed, status: await send(route, { ...credentialsOf(route), ...claimed }) };
      });
      const through = (await Promise.all(answers)).filter(({ status }) => status !== 403);
      expect({ route, through }).toEqual({ route, through: [] });
    }
    expect(called).toEqual([]);
  });

  it("refuses a missing or wrong secret and other content types", async () => {
    const { called, send } = await openWatched();
    for (const route of routes()) {
      if (route !== "POST /api/login" && !PUBLIC.includes(route)) {
        expect([route, await send(route, {})]).toEqual([route, 401]);
        const long = { authorization: `Bearer ${"x".repeat(43)}` };
        expect([route, [401, 429]]).toEqual([route, expect.arrayContaining([await send(route, long)])]);
      }
      if (route.startsWith("GET ")) continue;
      for (const type of [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
      ]) {
        const headers = { ...credentialsOf(route), "content-type": type };
        expect([route, type, await send(route, headers)]).toEqual([route, type, 415]);
      }
    }
    expect(called).toEqual([]);
  });

  it("refuses members unless it is a route for members", async () => {
    const { called, send } = await openWatched();
    const others = [...MEMBERS, ...OF_OTHER_SECRETS, ...PUBLIC];
    const owners = routes().filter((route) => !others.includes(route));
    expect(owners.length).toBeGreaterThan(10);
    const member = { authorization: "Bearer secret-of-alice" };
    for (const route of owners) expect([route, await send(route, member)]).toEqual([route, 403]);
    expect(called).toEqual([]);
    for (const route of owners) expect([401, 403]).not.toContain(await send(route, credentialsOf(route)));
    for (const route of MEMBERS) expect([401, 403]).not.toContain(await send(route, member));
  });

  it("lets each role do what its scopes permit and nothing else", async () => {
    const { called, send } = await openWatched();
    const all = routes().filter((route) => ![...OF_OTHER_SECRETS, ...PUBLIC].includes(route));
    const isChat = (route: string) => MEMBERS.includes(route) && !FOR_TOKENS.includes(route);
    const isRead = (route: string) => route.startsWith("GET /api/") && !isChat(route);
    const permitted = {
      vera: (route: string) => FOR_TOKENS.includes(route) || isRead(route) || route === "GET /metrics",
      oscar: (route: string) => !OWNERS.includes(route),
      olga: () => true,
    };
    expect([...WRITES, ...OWNERS].filter((route) => !all.includes(route))).toEqual([]);
    expect(
      all.filter((route) => !isChat(route) && !isRead(route) && ![...WRITES, ...OWNERS].includes(route)),
    ).toEqual(expect.arrayContaining(["POST /api/logout", "GET /metrics"]));
    for (const [name, isPermitted] of Object.entries(permitted)) {
      const headers = { authorization: `Bearer secret-of-${name}` };
      for (const route of all) {
        called.length = 0;
        const status = await send(route, headers);
        if (isPermitted(route)) expect([name, route, status]).not.toEqual([name, route, 403]);
        else expect([name, route, status, called]).toEqual([name, route, 403, []]);
      }
    }
  });

  it("asks a browser that signed in long ago to sign in again before a sensitive change", async () => {
    let now = Date.now();
    const { called, send, signIn } = await openWatched(() => now);
    const session = await signIn();
    now += 59 * 60_000;
    for (const route of SENSITIVE) expect([route, await send(route, session)]).not.toEqual([route, 403]);
    now += 2 * 60_000;
    called.length = 0;
    for (const route of SENSITIVE) expect([route, await send(route, session)]).toEqual([route, 403]);
    expect(called).toEqual([]);
    expect(await send("POST /api/schedules", session)).toBe(400);
    for (const route of SENSITIVE) {
      const status = await send(route, credentialsOf(route));
      expect([route, status]).not.toEqual([route, 403]);
    }
    const described = API_ROUTES.filter(({ isSensitive }) => isSensitive);
    expect(described.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(SENSITIVE);
  });
});
