import { expect, it } from "vitest";
import { checkOidcProvider, OIDC_CALLBACK_PATH } from "../src/index.ts";
import { openSignIn } from "./oidc-harness.ts";

async function open(clockOffsetMs = 0) {
  const { idp, live, url } = await openSignIn();
  const { oidc } = live.settings;
  if (oidc === undefined) throw new Error("no provider");
  const check = (redirectUri = url + OIDC_CALLBACK_PATH, change: Partial<typeof oidc> = {}) =>
    checkOidcProvider({ ...oidc, ...change }, redirectUri, () => Date.now() + clockOffsetMs);
  return { check, idp };
}

it("accepts a provider that knows the client and the redirect URI", async () => {
  expect(await (await open()).check()).toEqual([]);
});

it("reports a redirect URI or a client that is not registered", async () => {
  const { check } = await open();
  const refused = [
    { detail: expect.stringContaining("status 400"), remedy: expect.stringContaining("Register") },
  ];
  expect(await check("https://other.example.org/oauth/oidc/callback")).toEqual(refused);
  expect(await check(undefined, { clientId: "another" })).toEqual(refused);
});

it("reports clocks that differ too much for a sign-in", async () => {
  const { check } = await open(300_000);
  expect(await check()).toEqual([
    { detail: expect.stringMatching(/differs by (299|300|301) s/), remedy: expect.any(String) },
  ]);
});

it("reports a provider that does not respond or has another issuer", async () => {
  const { check, idp } = await open();
  const { port } = new URL(idp.url);
  expect(await check(undefined, { issuer: `http://localhost:${port}` })).toEqual([
    { detail: expect.stringContaining("cannot be used"), remedy: expect.any(String) },
  ]);
  await idp.stop();
  expect(await check()).toEqual([
    { detail: expect.stringContaining("cannot be reached"), remedy: expect.any(String) },
  ]);
});
