/**
 * Tries to break the company sign-in of a server of the given sources. Prints the attacks that succeed as JSON. A
 * process of its own for each set of sources.
 */
import { request } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Server from "@signalbox/server";
import { openStore } from "@signalbox/store";
import {
  createTestBrowser,
  type FakePerson,
  startFakeOidcProvider,
  type TestBrowser,
} from "@signalbox/testkit/oidc";

const [sources = "", only = ""] = process.argv.slice(2);
const { createAuth, createLiveHub, startServer }: typeof Server = await import(
  pathToFileURL(join(sources, "index.ts")).href
);

const CLIENT = { clientId: "signalbox", clientSecret: "a-secret-of-the-client" };
const AUDIENCE = "https://gateway.example.org";
const ALICE = { sub: "s-1", username: "alice", groups: ["admins"] };
const MALLORY = { sub: "s-6", username: "mallory", groups: ["staff"] };
const PROXIED = { "x-forwarded-user": "alice", "x-forwarded-groups": "admins" };
const ROLES = { owner: ["admins"], operator: [], viewer: [], member: ["staff"], monitor: [] };

type Settings = ReturnType<NonNullable<Server.AuthOptions["settings"]>>;
type ProxySettings = NonNullable<Settings["proxy"]>;

const quiet = (): void => {};
const seconds = (): number => Math.floor(Date.now() / 1000);

/** Only what these attacks use. Everything else would throw. */
const service = {
  version: "1.0.0",
  live: createLiveHub(quiet),
  agents: () => [{ id: "coder", name: "Coder", model: "a/b", demo: false, default: true }],
  canSpeak: () => false,
  admin: { addToken: async () => ({ name: "x", role: "member", token: "x" }) },
};

async function openWorld(proxy?: ProxySettings) {
  const store = await openStore({ path: ":memory:" });
  let url = "";
  const idp = await startFakeOidcProvider({ ...CLIENT, redirectUris: () => [`${url}/oauth/oidc/callback`] });
  const live: { settings: Settings } = {
    settings: {
      tokenSignIn: true,
      roles: ROLES,
      oidc: {
        ...CLIENT,
        issuer: idp.url,
        label: "Example",
        scopes: ["openid"],
        groupsClaim: "groups",
        sessionHours: 12,
        audience: AUDIENCE,
      },
      ...(proxy === undefined ? {} : { proxy }),
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
    auth: createAuth({
      token: "the-gateways-own-token-of-this-proof",
      store: store.access,
      kv: store.kv,
      settings: () => live.settings,
      publicUrl: () => url,
    }),
    hooks: () => ({ hooks: {}, defaultAgent: "coder" }),
  });
  ({ url } = server);
  const begin = async (person: FakePerson, browser: TestBrowser, authTime?: number): Promise<URL> =>
    idp.approve(await browser.startOidc(), person, authTime);
  const signIn = async (person: FakePerson, authTime?: number): Promise<TestBrowser> => {
    const browser = createTestBrowser(url);
    await browser.redeem(await browser.arrive((await begin(person, browser, authTime)).href));
    return browser;
  };
  /** Returns the status of a request with an access token. */
  const call = async (token: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    return (await fetch(url + path, { headers, ...init })).status;
  };
  const sendLogout = async (token: string): Promise<void> => {
    const body = new URLSearchParams({ logout_token: token });
    await fetch(`${url}/oauth/oidc/backchannel-logout`, { method: "POST", body });
  };
  const stop = async (): Promise<void> => {
    await server.stop(0);
    await idp.stop();
    await store.close();
  };
  return { url, idp, live, begin, signIn, call, sendLogout, stop, newBrowser: () => createTestBrowser(url) };
}

type World = Awaited<ReturnType<typeof openWorld>>;

const isIn = async (browser: TestBrowser): Promise<boolean> => (await browser.request("/api/me")).ok;
const hasSecret = ({ hash }: URL): boolean => hash.startsWith("#sign-in=");

/** Returns true if a forged ID token signs somebody in. */
const withForgery =
  (forgery: Parameters<World["idp"]["forge"]>[0]) =>
  async ({ idp, begin, newBrowser }: World): Promise<boolean> => {
    idp.forge(forgery);
    const browser = newBrowser();
    return hasSecret(await browser.arrive((await begin(ALICE, browser)).href));
  };

const redirectsTo =
  (returnTo: string) =>
  async ({ idp, url, newBrowser }: World): Promise<boolean> => {
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc({ returnTo }), ALICE);
    return (await browser.arrive(back.href)).origin !== url;
  };

const ATTACKS: Readonly<Record<string, (world: World) => Promise<boolean>>> = {
  "CSRF: a page ends the attacker's sign-in in another browser": async ({ begin, newBrowser }) => {
    const [mallory, victim] = [newBrowser(), newBrowser()];
    await victim.startOidc();
    return hasSecret(await victim.arrive((await begin(MALLORY, mallory)).href));
  },
  "CSRF: a link with the attacker's session": async ({ begin, newBrowser }) => {
    const [mallory, victim] = [newBrowser(), newBrowser()];
    const page = await mallory.arrive((await begin(MALLORY, mallory)).href);
    return (await victim.redeem(page)) === 200;
  },
  "CSRF: a page of another site starts a sign-in": async ({ newBrowser }) => {
    const headers = { origin: "https://evil.example.org", "sec-fetch-site": "cross-site" };
    return (await newBrowser().request("/api/login/oidc", { body: {}, headers })).ok;
  },
  "a replayed state": async ({ idp, begin, newBrowser }) => {
    const browser = newBrowser();
    const back = await begin(ALICE, browser);
    await browser.arrive(back.href);
    await browser.arrive(back.href);
    return idp.requests.filter(({ path }) => path === "/token").length > 1;
  },
  "a replayed link": async ({ begin, newBrowser }) => {
    const browser = newBrowser();
    const page = await browser.arrive((await begin(ALICE, browser)).href);
    await browser.redeem(page);
    return (await browser.redeem(page)) === 200;
  },
  "a code of another sign-in": async ({ begin, newBrowser }) => {
    const [victim, mallory] = [newBrowser(), newBrowser()];
    const code = (await begin(ALICE, victim)).searchParams.get("code") ?? "";
    const back = await begin(MALLORY, mallory);
    back.searchParams.set("code", code);
    return hasSecret(await mallory.arrive(back.href));
  },
  "mix-up: a response of another provider": async ({ idp, begin, newBrowser }) => {
    const browser = newBrowser();
    const back = await begin(ALICE, browser);
    back.searchParams.set("iss", "https://evil.example.org");
    await browser.arrive(back.href);
    return idp.requests.some(({ path }) => path === "/token");
  },
  "an ID token with a known nonce": withForgery({ claims: { nonce: "known" } }),
  "an ID token without a nonce": withForgery({ claims: { nonce: undefined } }),
  "an ID token with a foreign key": withForgery({ isForeignKey: true }),
  "an ID token without a signature": withForgery({ alg: "none" }),
  "an ID token with HS256 and the public key": withForgery({ alg: "HS256" }),
  "an ID token of another issuer": withForgery({ claims: { iss: "https://evil.example.org" } }),
  "an ID token for another client": withForgery({ claims: { aud: "another" } }),
  "an ID token as an access token": async ({ idp, call }) =>
    (await call(idp.issueAccessToken(ALICE, CLIENT.clientId), "/api/me")) === 200,
  "an access token with HS256 and the public key": async ({ idp, call }) =>
    (await call(idp.issueAccessToken(ALICE, AUDIENCE, { alg: "HS256" }), "/api/me")) === 200,
  "a logout token as an access token": async ({ idp, call }) =>
    (await call(idp.issueLogoutToken({ ...ALICE, aud: AUDIENCE }), "/api/me")) === 200,
  "a sign-in link from an access token": async ({ idp, call }) =>
    (await call(idp.issueAccessToken(ALICE, AUDIENCE), "/api/sign-in-links", {})) === 200,
  "open redirect: another site": redirectsTo("/\\evil.example.org/"),
  "open redirect: a path that looks like a host": redirectsTo("/.//evil.example.org/"),
  "session fixation": async ({ idp, begin, signIn, newBrowser }) => {
    const mallory = await signIn(MALLORY);
    const victim = newBrowser();
    for (const [name, value] of mallory.cookies) victim.cookies.set(name, value);
    victim.sessionKey = mallory.sessionKey;
    await victim.redeem(await victim.arrive((await begin(ALICE, victim)).href));
    void idp;
    return (await mallory.request("/api/sign-ins")).ok;
  },
  "an old access token with a removed group": async ({ idp, call, signIn }) => {
    const old = idp.issueAccessToken(ALICE, AUDIENCE, { claims: { iat: seconds() - 60 } });
    await signIn({ ...ALICE, groups: ["staff"] });
    return (await call(old, "/api/sign-ins")) === 200;
  },
  "a session after a sign-in without the group": async ({ signIn }) => {
    const owner = await signIn(ALICE);
    await signIn({ ...ALICE, groups: ["staff"] });
    return (await owner.request("/api/sign-ins")).ok;
  },
  "a session of a group that has no role any more": async ({ live, signIn }) => {
    const browser = await signIn(ALICE);
    live.settings = { ...live.settings, roles: { ...ROLES, owner: [] } };
    return isIn(browser);
  },
  "the user name of another person": async ({ begin, signIn, newBrowser }) => {
    const mallory = await signIn({ ...MALLORY, username: ALICE.username, groups: ["admins"] });
    const browser = newBrowser();
    const page = await browser.arrive((await begin(ALICE, browser)).href);
    // Alice must not be locked out, and must not become the same person.
    if (!hasSecret(page)) return true;
    await browser.redeem(page);
    const [one, two] = await Promise.all(
      [mallory, browser].map(async (each) => (await each.request("/api/me")).text()),
    );
    return one === two;
  },
  "a sensitive change with an old authentication": async ({ signIn }) => {
    const browser = await signIn(ALICE, seconds() - 4_000);
    return (await browser.request("/api/tokens", { body: { name: "x", role: "member" } })).ok;
  },
  "a replayed logout token": async ({ idp, signIn, sendLogout }) => {
    const token = idp.issueLogoutToken({ sub: ALICE.sub });
    await sendLogout(token);
    const browser = await signIn(ALICE);
    await sendLogout(token);
    return !(await isIn(browser));
  },
  "an ID token as a logout token": async ({ idp, signIn, sendLogout }) => {
    const browser = await signIn(ALICE);
    await sendLogout(idp.issueLogoutToken({ sub: ALICE.sub, events: undefined }, { typ: "JWT" }));
    return !(await isIn(browser));
  },
  "a forged logout token": async ({ idp, signIn, sendLogout }) => {
    const browser = await signIn(ALICE);
    for (const forgery of [{ isForeignKey: true }, { alg: "none" }, { alg: "HS256" }] as const)
      await sendLogout(idp.issueLogoutToken({ sub: ALICE.sub }, forgery));
    return !(await isIn(browser));
  },
};

/** Attacks on a gateway behind a proxy, with the settings of the proxy. */
const PROXY_ATTACKS: Readonly<Record<string, readonly [ProxySettings, (world: World) => Promise<boolean>]>> =
  {
    "proxy headers from another address": [
      { addresses: ["10.0.0.1"], type: "oauth2-proxy" },
      async ({ newBrowser }) =>
        (await newBrowser().request("/api/login/proxy", { body: {}, headers: PROXIED })).ok,
    ],
    "proxy headers with a forged address": [
      { addresses: ["10.0.0.1"], type: "oauth2-proxy" },
      async ({ newBrowser }) => {
        const headers = { ...PROXIED, "x-forwarded-for": "10.0.0.1", forwarded: "for=10.0.0.1" };
        return (await newBrowser().request("/api/login/proxy", { body: {}, headers })).ok;
      },
    ],
    "proxy headers without the secret": [
      { addresses: ["127.0.0.1"], type: "oauth2-proxy", secret: "a-secret-of-the-proxy" },
      async ({ newBrowser }) =>
        (await newBrowser().request("/api/login/proxy", { body: {}, headers: PROXIED })).ok,
    ],
    "proxy headers that the proxy appends to": [
      { addresses: ["127.0.0.1"], type: "oauth2-proxy" },
      async ({ url }) => {
        const lines = [
          "X-Forwarded-Groups",
          "admins",
          "X-Forwarded-User",
          "mallory",
          "X-Forwarded-Groups",
          "staff",
        ];
        return (await postRaw(`${url}/api/login/proxy`, lines)) === 200;
      },
    ],
    "a proxied session without its headers": [
      { addresses: ["127.0.0.1"], type: "oauth2-proxy" },
      async ({ newBrowser }) => {
        const browser = newBrowser();
        const response = await browser.request("/api/login/proxy", { body: {}, headers: PROXIED });
        browser.sessionKey = String(Reflect.get(Object(await response.json()), "sessionKey"));
        return isIn(browser);
      },
    ],
  };

/** Sends repeated headers, which `fetch` would join. */
function postRaw(address: string, lines: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const own = ["content-type", "application/json", "content-length", "2", "host", new URL(address).host];
    const sent = request(address, { method: "POST", headers: [...own, ...lines] });
    sent.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.end("{}");
  });
}

const all: readonly (readonly [string, ProxySettings | undefined, (world: World) => Promise<boolean>])[] = [
  ...Object.entries(ATTACKS).map(([name, attempt]) => [name, undefined, attempt] as const),
  ...Object.entries(PROXY_ATTACKS).map(([name, [proxy, attempt]]) => [name, proxy, attempt] as const),
];
const chosen = all.filter(([name]) => only === "" || name === only);
// If nobody could sign in, each attack would seem to fail.
const control = await openWorld();
if (!(await isIn(await control.signIn(ALICE)))) throw new Error("the company sign-in does not work");
await control.stop();
const through: string[] = [];
for (const [name, proxy, attempt] of chosen) {
  const world = await openWorld(proxy);
  try {
    if (await attempt(world)) through.push(name);
  } finally {
    await world.stop();
  }
}
console.log(JSON.stringify({ tried: chosen.length, through }));
process.exit(0);
