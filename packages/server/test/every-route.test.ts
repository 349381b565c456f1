import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { API_ROUTES } from "@signalbox/protocol";
import { openStore } from "@signalbox/store";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createApp } from "../src/app.ts";
import { createAuth, type GatewayService, hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

const HOOK = "the-secret-of-the-hook";
/** Routes that members may call, limited to their own conversations. All other routes require an owner. */
const MEMBERS = [
  "GET /api/me",
  "GET /api/agents",
  "GET /api/conversations",
  "GET /api/conversations/:id/messages",
  "GET /api/conversations/:id/events",
  "POST /api/conversations/:id/messages",
  "POST /api/conversations/:id/abort",
  "POST /api/conversations/:id/rename",
  "POST /api/conversations/:id/remove",
  "PUT /api/uploads/:id",
  "POST /api/logout",
  "GET /v1/models",
  "GET /v1/models/:id",
  "POST /v1/chat/completions",
  "POST /v1/responses",
];
/** Routes whose body is a file. The body of all others is JSON. */
const OF_BYTES = ["PUT /api/uploads/:id"];
/** Routes that do not require a token of the gateway. */
const OF_OTHER_SECRETS = ["POST /api/login", "POST /hooks/:name"];
/** Routes of the OpenAI surface, which the application does not list. */
const OPENAI = MEMBERS.filter((route) => route.includes(" /v1/"));
/** Routes without secrets, which any page may request. */
const FOR_ALL = ["GET /healthz", "GET /readyz", "GET /*"];
/** Routes for platforms. Channels verify the signatures. */
const WEBHOOKS = /^(GET|POST) \/channels\//;

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
    (route) => !FOR_ALL.includes(route) && !WEBHOOKS.test(route),
  );
}

/** Starts a server and records which methods of its service are called. */
async function openWatched() {
  const called: string[] = [];
  const service = new Proxy<GatewayService>(createMemoryService(), {
    get(target, name, receiver) {
      called.push(String(name));
      return Reflect.get(target, name, receiver);
    },
  });
  const { url, access } = await openServer(service);
  await access.tokens.add({
    name: "alice",
    role: "member",
    hash: hashToken("secret-of-alice"),
    createdAt: 0,
  });
  called.length = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  onTestFinished(() => agent.destroy());
  const { host, hostname, port } = new URL(url);
  const send = (route: string, headers: Readonly<Record<string, string>>): Promise<number> => {
    const [method = "", pattern = ""] = route.split(" ");
    const path = pattern.replace(":name", "build").replace(/:id(\{.*\})?/, "x");
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
  return { host, port, called, send };
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
    const forMembers = API_ROUTES.filter(({ access }) => access === "client");
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
    for (const route of routes()) {
      const answers = foreign.map(async ({ named, origin, site }) => {
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
  }, 120_000);

  it("refuses a missing or wrong secret and other content types", async () => {
    const { called, send } = await openWatched();
    for (const route of routes()) {
      if (route !== "POST /api/login") {
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
    const owners = routes().filter((route) => !MEMBERS.includes(route) && !OF_OTHER_SECRETS.includes(route));
    expect(owners.length).toBeGreaterThan(10);
    const member = { authorization: "Bearer secret-of-alice" };
    for (const route of owners) expect([route, await send(route, member)]).toEqual([route, 403]);
    expect(called).toEqual([]);
    for (const route of owners) expect([401, 403]).not.toContain(await send(route, credentialsOf(route)));
    for (const route of MEMBERS) expect([401, 403]).not.toContain(await send(route, member));
  });
});
