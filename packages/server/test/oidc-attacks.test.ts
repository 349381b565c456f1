import { describe, expect, it } from "vitest";
import { openSignIn, whoIs } from "./oidc-harness.ts";

const ALICE = { sub: "s-1", username: "alice", groups: ["admins"] };
const MALLORY = { sub: "s-6", username: "mallory", groups: ["staff"] };

describe("a sign-in at an OpenID provider", () => {
  it("is bound to the browser that started it", async () => {
    const { newBrowser, idp } = await openSignIn();
    const [mallory, victim] = [newBrowser(), newBrowser()];
    await victim.startOidc();
    // A page of Mallory sends the victim's browser to the end of Mallory's sign-in.
    const back = idp.approve(await mallory.startOidc(), MALLORY);
    expect((await victim.arrive(back.href)).hash).toBe("#sign-in-error=expired");
  });

  it("gives its link only to the browser that started it", async () => {
    const { newBrowser, idp } = await openSignIn();
    const [mallory, victim] = [newBrowser(), newBrowser()];
    const page = await mallory.arrive(idp.approve(await mallory.startOidc(), MALLORY).href);
    // Mallory sends the victim the address of the page, with the secret of Mallory's session.
    await victim.startOidc();
    expect(await victim.redeem(page)).toBe(401);
    expect(await mallory.redeem(page)).toBe(401);
  });

  it("is completed once", async () => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc(), ALICE);
    const page = await browser.arrive(back.href);
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=expired");
    expect(await browser.redeem(page)).toBe(200);
    expect(await browser.redeem(page)).toBe(401);
    expect(idp.requests.filter(({ path }) => path === "/token")).toHaveLength(1);
  });

  it("does not accept a code of another sign-in", async () => {
    const { newBrowser, idp } = await openSignIn();
    const [one, two] = [newBrowser(), newBrowser()];
    const stolen = idp.approve(await one.startOidc(), ALICE).searchParams.get("code") ?? "";
    const back = idp.approve(await two.startOidc(), MALLORY);
    back.searchParams.set("code", stolen);
    expect((await two.arrive(back.href)).hash).toBe("#sign-in-error=failed");
  });

  it("does not accept a response of another provider", async () => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc(), ALICE);
    back.searchParams.set("iss", "https://evil.example.org");
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=failed");
    expect(idp.requests.filter(({ path }) => path === "/token")).toEqual([]);
  });

  it.each([
    ["no signature", { alg: "none" }],
    ["the public key as the secret of HS256", { alg: "HS256" }],
    ["a key that the provider does not publish", { isForeignKey: true }],
    ["another nonce", { claims: { nonce: "another" } }],
    ["no nonce", { claims: { nonce: undefined } }],
    ["another issuer", { claims: { iss: "https://evil.example.org" } }],
    ["another audience", { claims: { aud: "another" } }],
    ["no expiry", { claims: { exp: undefined } }],
  ] as const)("does not accept an ID token with %s", async (_, forgery) => {
    const { newBrowser, idp } = await openSignIn();
    const browser = newBrowser();
    idp.forge(forgery);
    const back = idp.approve(await browser.startOidc(), ALICE);
    expect((await browser.arrive(back.href)).hash).toBe("#sign-in-error=failed");
  });

  it("does not accept a provider whose metadata name another issuer", async () => {
    const metadata = (usual: object) => ({ ...usual, issuer: "https://evil.example.org" });
    const { newBrowser } = await openSignIn({}, { metadata });
    expect((await newBrowser().request("/api/login/oidc", { body: {} })).status).toBe(503);
  });

  it("does not accept metadata that are too long", async () => {
    const metadata = (usual: object) => ({ ...usual, padding: "x".repeat(17_000_000) });
    const { newBrowser } = await openSignIn({}, { metadata });
    expect((await newBrowser().request("/api/login/oidc", { body: {} })).status).toBe(503);
  });

  it.each([
    "https://evil.example.org/",
    "//evil.example.org/",
    "/\\evil.example.org/",
    "/.//evil.example.org/",
    "javascript:alert(1)",
    "/\t/evil.example.org",
    "@evil.example.org",
    ".evil.example.org",
  ])("returns only to pages of the gateway, not to %j", async (returnTo) => {
    const { newBrowser, idp, url } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc({ returnTo }), ALICE);
    expect((await browser.arrive(back.href)).origin).toBe(url);
  });

  it("returns to the page on which it started", async () => {
    const { newBrowser, idp, url } = await openSignIn();
    const browser = newBrowser();
    const back = idp.approve(await browser.startOidc({ returnTo: "/tokens?a=1#b" }), ALICE);
    expect((await browser.arrive(back.href)).href).toMatch(new RegExp(`^${url}/tokens\\?a=1#sign-in=`));
  });

  it("cannot be started by a page of another site", async () => {
    const { newBrowser } = await openSignIn();
    const browser = newBrowser();
    const foreign: readonly Readonly<Record<string, string>>[] = [
      { origin: "https://evil.example.org" },
      { "sec-fetch-site": "cross-site" },
      { "content-type": "text/plain" },
    ];
    for (const headers of foreign) {
      const response = await browser.request("/api/login/oidc", { body: {}, headers });
      expect([headers, response.status]).toEqual([headers, "content-type" in headers ? 415 : 403]);
    }
    expect([...browser.cookies]).toEqual([]);
  });

  it("opens a new session instead of one that an attacker has planted", async () => {
    const { signIn, newBrowser } = await openSignIn();
    const mallory = await signIn(MALLORY);
    const victim = newBrowser();
    for (const [name, value] of mallory.cookies) victim.cookies.set(name, value);
    victim.sessionKey = mallory.sessionKey;
    await signIn(ALICE, victim);
    expect(await whoIs(victim)).toMatchObject({ role: "owner" });
    expect(await whoIs(mallory)).toMatchObject({ role: "member" });
  });

  it("writes no tokens, codes or secrets to the log", async () => {
    const { newBrowser, idp, warnings } = await openSignIn();
    const browser = newBrowser();
    idp.forge({ claims: { nonce: "another" } });
    const back = idp.approve(await browser.startOidc(), ALICE);
    await browser.arrive(back.href);
    const [state, code] = [back.searchParams.get("state") ?? "?", back.searchParams.get("code") ?? "?"];
    expect(warnings).toHaveLength(1);
    for (const secret of ["eyJ", state, code, "a-secret-of-the-client"])
      expect(warnings.join()).not.toContain(secret);
  });

  it("logs at most 20 failures per minute, because anybody can cause them", async () => {
    const { newBrowser, warnings, url } = await openSignIn();
    const browser = newBrowser();
    for (let count = 0; count < 25; count++)
      await browser.arrive(`${url}/oauth/oidc/callback?state=${count}`);
    expect(warnings.length).toBeLessThanOrEqual(40);
    expect(warnings.length).toBeGreaterThanOrEqual(20);
  });
});
