import { describe, expect, it } from "vitest";
import { openSignIn, whoIs } from "./oidc-harness.ts";

const ALICE = { sub: "s-1", username: "alice@example.org", groups: ["admins"] };
const BOB = { sub: "s-2", username: "bob", groups: ["staff"] };
const named = (slug: string) => expect.stringMatching(new RegExp(`^${slug}-[0-9a-f]{12}$`));

describe("the sign-in at an OpenID provider", () => {
  it("opens a session with the role of a group", async () => {
    const { signIn, signIns } = await openSignIn();
    expect(await whoIs(await signIn(ALICE))).toEqual({ name: named("alice"), role: "owner" });
    expect(await whoIs(await signIn(BOB))).toEqual({ name: named("bob"), role: "member" });
    expect(await whoIs(await signIn({ ...BOB, groups: ["staff", "ops"] }))).toMatchObject({
      role: "operator",
    });
    expect(signIns.map(({ method }) => method)).toEqual(["oidc", "oidc", "oidc"]);
  });

  it("keeps the name of a person and separates people with the same user name", async () => {
    const { signIn } = await openSignIn();
    const first = await whoIs(await signIn(ALICE));
    expect(await whoIs(await signIn({ ...ALICE, username: "renamed" }))).toEqual(first);
    expect(await whoIs(await signIn({ ...ALICE, sub: "s-3" }))).not.toEqual(first);
  });

  it("reads the groups from the userinfo endpoint if the ID token has none", async () => {
    const { signIn } = await openSignIn({}, { hidesGroups: true });
    expect(await whoIs(await signIn(ALICE))).toMatchObject({ role: "owner" });
  });

  it.each([
    ["https://example.org/groups", { "https://example.org/groups": ["admins"] }],
    ["realm_access.roles", { realm_access: { roles: ["admins"] } }],
    ["role", { role: "admins" }],
  ])("reads the groups from the claim %s", async (groupsClaim, claims) => {
    const { signIn, idp } = await openSignIn({ groupsClaim });
    idp.forge({ claims });
    expect(await whoIs(await signIn({ sub: "s-1" }))).toMatchObject({ role: "owner" });
  });

  it("refuses a person without a role, with a code for the page and the reason in the log", async () => {
    const { newBrowser, idp, warnings } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc(), { sub: "s-9", groups: ["guests"] });
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=no_role");
    expect(warnings.join()).toContain("none of the person's groups is in gateway.auth.roles (subject s-9)");
  });

  it("does not let a monitor into the console", async () => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc(), { sub: "s-9", groups: ["probes"] });
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=no_role");
  });

  it("ends the sessions of a person who has lost the last group at the next sign-in", async () => {
    const { signIn, newBrowser, idp, access } = await openSignIn();
    const first = await signIn(ALICE);
    const second = newBrowser();
    await second.arrive(idp.approve(await second.startOidc(), { ...ALICE, groups: [] }).href);
    expect(await whoIs(first)).toBe(401);
    expect(await access.tokens.list()).toEqual([]);
  });

  it("applies a changed role of a group to open sessions", async () => {
    const { signIn, live, auth, access } = await openSignIn();
    const browser = await signIn(ALICE);
    live.settings = { ...live.settings, roles: { ...live.settings.roles, owner: [], viewer: ["admins"] } };
    expect(await whoIs(browser)).toMatchObject({ role: "viewer" });
    live.settings = { ...live.settings, roles: { ...live.settings.roles, viewer: [] } };
    expect(await whoIs(browser)).toBe(401);
    // The people of revoked tokens lose their runs, which the gateway looks for regularly.
    expect(await access.tokens.list()).toHaveLength(1);
    await auth.applySettings();
    expect(await access.tokens.list()).toEqual([]);
  });

  it("ends all sessions if the provider is removed from the configuration", async () => {
    const { signIn, live } = await openSignIn();
    const browser = await signIn(ALICE);
    const { oidc: _, ...rest } = live.settings;
    live.settings = rest;
    expect(await whoIs(browser)).toBe(401);
  });

  it("ends a session after the configured hours", async () => {
    const { signIn, clock } = await openSignIn({ sessionHours: 2 });
    const browser = await signIn(ALICE);
    clock.offsetMs = 2 * 3_600_000 - 10_000;
    expect(await whoIs(browser)).toMatchObject({ role: "owner" });
    clock.offsetMs = 2 * 3_600_000 + 10_000;
    expect(await whoIs(browser)).toBe(401);
  });

  it("continues at another gateway with the same store", async () => {
    const { newBrowser, idp, openSecond } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc(), ALICE);
    const second = await openSecond();
    // The load balancer sends the callback to the other gateway.
    const response = await fetch(second.url + back.pathname + back.search, {
      redirect: "manual",
      headers: { cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; ") },
    });
    expect(await browser.redeem(new URL(response.headers.get("location") ?? ""))).toBe(200);
    expect(await whoIs(browser)).toMatchObject({ role: "owner" });
  });

  it("reports a provider that does not respond, and keeps the token sign-in", async () => {
    const { newBrowser, idp } = await openSignIn();
    await idp.stop();
    const browser = newBrowser();
    const response = await browser.request("/api/login/oidc", { body: {} });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      error: { code: "unavailable", message: "The sign-in provider cannot be reached." },
    });
    expect(await (await browser.request("/api/sign-in-methods")).json()).toEqual({
      token: true,
      oidc: { label: "Example" },
      proxy: false,
    });
  });

  it("refuses tokens in browsers if they are switched off, but not links or programs", async () => {
    const { newBrowser, live, url } = await openSignIn();
    live.settings = { ...live.settings, tokenSignIn: false };
    const { TOKEN } = await import("./harness.ts");
    const browser = newBrowser();
    expect((await browser.request("/api/login", { body: { token: TOKEN } })).status).toBe(401);
    const asOwner = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const made = await fetch(`${url}/api/sign-in-links`, { method: "POST", headers: asOwner, body: "{}" });
    const { secret } = (await made.json()) as { secret: string };
    expect((await browser.request("/api/login", { body: { token: secret } })).status).toBe(200);
  });

  it("reports wrong clocks", async () => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    idp.forge({ claims: { exp: Math.floor(Date.now() / 1000) - 600 } });
    const back = idp.approve(await browser.startOidc(), ALICE);
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=clock_skew");
  });

  it("reports that the person declined", async () => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    const back = idp.deny(await browser.startOidc());
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=denied");
  });

  it("refuses to start at an address to which the provider does not return", async () => {
    const { newBrowser, url } = await openSignIn();
    const response = await newBrowser().request("/api/login/oidc", {
      body: {},
      headers: {
        host: url.replace("http://127.0.0.1", "localhost"),
        origin: url.replace("127.0.0.1", "localhost"),
      },
    });
    // Node.js does not let `fetch` change the host, so the origin differs from it.
    expect([403, 409]).toContain(response.status);
  });
});

describe("a sensitive change", () => {
  const change = { body: { name: "ci", role: "member" } };

  it("depends on the time at which the person entered the credentials at the provider", async () => {
    const { signIn } = await openSignIn();
    const now = Math.floor(Date.now() / 1000);
    const recent = await signIn(ALICE);
    expect((await recent.request("/api/sign-ins")).status).toBe(200);
    expect((await recent.request("/api/tokens", change)).status).not.toBe(403);
    const old = await signIn(ALICE, undefined, now - 3_700);
    const refused = await old.request("/api/tokens", change);
    expect(await refused.json()).toMatchObject({ error: { code: "sign_in_again" } });
  });

  it("is refused if the provider does not report that time", async () => {
    const { signIn, idp } = await openSignIn();
    idp.forge({ claims: { auth_time: undefined } });
    const browser = await signIn(ALICE);
    expect((await browser.request("/api/tokens", change)).status).toBe(403);
  });

  it("is permitted after the person has signed in again with max_age", async () => {
    const { signIn, idp } = await openSignIn();
    const browser = await signIn(ALICE, undefined, Math.floor(Date.now() / 1000) - 3_700);
    const page = await browser.startOidc({ again: true });
    expect(new URL(page).searchParams.get("max_age")).toBe("1800");
    expect(await browser.redeem(await browser.arrive(idp.approve(page, ALICE).href))).toBe(200);
    expect((await browser.request("/api/tokens", change)).status).not.toBe(403);
  });

  it("is refused if the provider ignores max_age", async () => {
    const { newBrowser, idp } = await openSignIn();
    const old = Math.floor(Date.now() / 1000) - 3_700;
    for (const claims of [{}, { auth_time: undefined }]) {
      const browser = newBrowser();
      idp.forge({ claims });
      const page = await browser.startOidc({ again: true });
      const arrived = await browser.arrive(idp.approve(page, ALICE, old).href);
      expect(arrived.hash).toBe("#sign-in-error=not_recent");
    }
  });
});

describe("the end of a session", () => {
  it("leads to the provider's page for it", async () => {
    const { signIn, idp, url } = await openSignIn();
    const browser = await signIn(ALICE);
    const { url: elsewhere } = (await (await browser.request("/api/logout", { body: {} })).json()) as {
      url: string;
    };
    const { origin, pathname, searchParams } = new URL(elsewhere);
    expect(origin + pathname).toBe(`${idp.url}/logout`);
    expect(searchParams.get("post_logout_redirect_uri")).toBe(`${url}/`);
    expect(searchParams.get("id_token_hint")).toMatch(/^eyJ/);
    expect(await whoIs(browser)).toBe(401);
  });

  it("follows a logout token of the provider, for one session or all of the person", async () => {
    const { signIn, idp, url } = await openSignIn();
    const [one, two, other] = [await signIn(ALICE), await signIn(ALICE), await signIn(BOB)];
    const send = async (token: string): Promise<number> => {
      const body = new URLSearchParams({ logout_token: token });
      return (await fetch(`${url}/oauth/oidc/backchannel-logout`, { method: "POST", body })).status;
    };
    expect(await send(idp.issueLogoutToken({ sub: ALICE.sub, sid: "unknown" }))).toBe(200);
    expect(await whoIs(one)).toMatchObject({ role: "owner" });
    const token = idp.issueLogoutToken({ sub: ALICE.sub });
    expect(await send(token)).toBe(200);
    expect([await whoIs(one), await whoIs(two)]).toEqual([401, 401]);
    expect(await whoIs(other)).toMatchObject({ role: "member" });
    // A copy of the token does not end later sessions.
    const later = await signIn(ALICE);
    expect(await send(token)).toBe(400);
    expect(await whoIs(later)).toMatchObject({ role: "owner" });
    const wrong = [
      idp.issueLogoutToken({ sub: BOB.sub }, { isForeignKey: true }),
      idp.issueLogoutToken({ sub: BOB.sub }, { alg: "none" }),
      idp.issueLogoutToken({ sub: BOB.sub, aud: "another" }),
      idp.issueLogoutToken({ sub: BOB.sub, events: {} }),
      idp.issueLogoutToken({ sub: BOB.sub, nonce: "n" }),
      idp.issueLogoutToken({ sub: BOB.sub, iat: 1 }),
      idp.issueLogoutToken({}),
      "",
    ];
    for (const each of wrong) expect([each, await send(each)]).toEqual([each, 400]);
    expect(await whoIs(other)).toMatchObject({ role: "member" });
  });

  it("can be ordered by an owner from the list of sessions", async () => {
    const { signIn } = await openSignIn();
    const [owner, member] = [await signIn(ALICE), await signIn(BOB)];
    const { signIns } = (await (await owner.request("/api/sign-ins")).json()) as {
      signIns: { id: string; name: string; method: string; isCurrent?: boolean; remote: string }[];
    };
    expect(signIns).toHaveLength(2);
    expect(JSON.stringify(signIns)).not.toMatch(/eyJ|tokenHash/);
    const theirs = signIns.find(({ name }) => name.startsWith("bob"));
    expect(theirs).toMatchObject({ method: "oidc", remote: "127.0.0.1" });
    expect(signIns.filter(({ isCurrent }) => isCurrent).map(({ name }) => name)).toEqual([named("alice")]);
    expect((await member.request(`/api/sign-ins/${theirs?.id}/end`, { body: {} })).status).toBe(403);
    expect((await owner.request(`/api/sign-ins/${theirs?.id}/end`, { body: {} })).status).toBe(204);
    expect(await whoIs(member)).toBe(401);
    expect((await owner.request("/api/sign-ins/unknown/end", { body: {} })).status).toBe(404);
  });
});

describe("an access token of the provider", () => {
  const AUDIENCE = "https://gateway.example.org";
  const call = async (url: string, token: string, path = "/api/me"): Promise<number> =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).status;

  it("opens the API until it expires", async () => {
    const { idp, url, clock } = await openSignIn({ audience: AUDIENCE });
    const token = idp.issueAccessToken(ALICE, AUDIENCE);
    expect(await call(url, token)).toBe(200);
    expect(await call(url, token, "/api/status")).toBe(200);
    expect(await call(url, idp.issueAccessToken(BOB, AUDIENCE), "/api/status")).toBe(403);
    clock.offsetMs = 370_000;
    expect(await call(url, token)).toBe(401);
  });

  it("reads the metrics with the role monitor, and nothing else", async () => {
    const { idp, url } = await openSignIn({ audience: AUDIENCE });
    const token = idp.issueAccessToken({ sub: "probe", groups: ["probes"] }, AUDIENCE);
    expect([await call(url, token, "/metrics"), await call(url, token)]).toEqual([200, 401]);
  });

  it("is refused without the setting, and in every other form", async () => {
    const closed = await openSignIn();
    expect(await call(closed.url, closed.idp.issueAccessToken(ALICE, AUDIENCE))).toBe(401);
    const { idp, url } = await openSignIn({ audience: AUDIENCE });
    const wrong = [
      idp.issueAccessToken(ALICE, "signalbox"),
      idp.issueAccessToken(ALICE, AUDIENCE, { alg: "none" }),
      idp.issueAccessToken(ALICE, AUDIENCE, { alg: "HS256" }),
      idp.issueAccessToken(ALICE, AUDIENCE, { isForeignKey: true }),
      idp.issueAccessToken(ALICE, AUDIENCE, { claims: { iss: "https://evil.example.org" } }),
      idp.issueAccessToken(ALICE, AUDIENCE, { claims: { exp: undefined } }),
      idp.issueAccessToken(ALICE, AUDIENCE, { claims: { typ: "ID" } }),
      idp.issueLogoutToken({ sub: ALICE.sub, aud: AUDIENCE }),
      idp.issueAccessToken({ ...ALICE, groups: ["guests"] }, AUDIENCE),
    ];
    for (const token of wrong)
      expect([token, [401, 429]]).toEqual([token, expect.arrayContaining([await call(url, token)])]);
  });

  it("is refused without the claim of the groups, and ends no session of the person", async () => {
    const { idp, url, signIn, warnings } = await openSignIn({ audience: AUDIENCE });
    const browser = await signIn(ALICE);
    const token = idp.issueAccessToken(ALICE, AUDIENCE, { claims: { groups: undefined } });
    expect(await call(url, token)).toBe(401);
    expect(warnings.join()).toContain("the access token has no claim groups");
    expect(await whoIs(browser)).toMatchObject({ role: "owner" });
  });

  it("does not bring back a group that a later sign-in has removed", async () => {
    const { idp, url, signIn } = await openSignIn({ audience: AUDIENCE });
    const old = idp.issueAccessToken(ALICE, AUDIENCE, {
      claims: { iat: Math.floor(Date.now() / 1000) - 60 },
    });
    expect(await call(url, old, "/api/status")).toBe(200);
    await signIn({ ...ALICE, groups: ["staff"] });
    expect(await call(url, old, "/api/status")).toBe(403);
  });

  it("cannot create a sign-in link, which would outlive it", async () => {
    const { idp, url } = await openSignIn({ audience: AUDIENCE });
    const headers = {
      authorization: `Bearer ${idp.issueAccessToken(ALICE, AUDIENCE)}`,
      "content-type": "application/json",
    };
    const made = await fetch(`${url}/api/sign-in-links`, { method: "POST", headers, body: "{}" });
    expect(made.status).toBe(403);
  });
});
