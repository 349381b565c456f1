/** The command line and the doctor for the company sign-in, with a fake provider. */
import { createTestBrowser, startFakeOidcProvider, type TestBrowser } from "@signalbox/testkit/oidc";
import { expect, it, onTestFinished } from "vitest";
import { demoConfig, openWorld, TOKEN } from "../support/harness.ts";

const CLIENT = { clientId: "signalbox", clientSecret: "a-secret-of-the-client-0123" };
const ROLES = { owner: ["admins"], member: ["staff"] };

async function openCompany(change: object = {}) {
  let url = "";
  const idp = await startFakeOidcProvider({ ...CLIENT, redirectUris: () => [`${url}/oauth/oidc/callback`] });
  onTestFinished(() => idp.stop());
  const world = await openWorld();
  const oidc = { ...CLIENT, issuer: idp.url };
  const configure = (more: object): void =>
    world.configure(
      demoConfig({
        gateway: { port: 0, logLevel: "warn", auth: { token: TOKEN, oidc, roles: ROLES, ...more } },
      }),
    );
  configure(change);
  const started = await world.start();
  ({ url } = started);
  const signIn = async (sub: string, groups: string[]): Promise<TestBrowser> => {
    const browser = createTestBrowser(url);
    const back = idp.approve(await browser.startOidc(), { sub, username: sub, groups });
    expect(await browser.redeem(await browser.arrive(back.href))).toBe(200);
    return browser;
  };
  return { world, started, idp, signIn, configure };
}

const isIn = async (browser: TestBrowser): Promise<boolean> => (await browser.request("/api/me")).ok;

it("lists people and their sessions, and signs them out", async () => {
  const { world, signIn } = await openCompany();
  const [alice, other, bob] = [
    await signIn("alice", ["admins"]),
    await signIn("alice", ["admins"]),
    await signIn("bob", ["staff"]),
  ];
  const tokens = JSON.parse((await world.command(["tokens", "list", "--json"])).out);
  expect(tokens).toMatchObject([
    { name: expect.stringMatching(/^alice-/), role: "owner", kind: "oidc" },
    { name: expect.stringMatching(/^bob-/), role: "member", kind: "oidc" },
  ]);
  const sessions = JSON.parse((await world.command(["tokens", "sessions", "--json"])).out);
  expect(sessions).toHaveLength(3);
  const ofBob = sessions.find(({ name }: { name: string }) => name.startsWith("bob"));
  expect((await world.command(["tokens", "sessions"])).out).toContain(ofBob.id.slice(0, 12));
  expect(await world.command(["tokens", "sign-out", ofBob.id.slice(0, 12)])).toMatchObject({ code: 0 });
  expect([await isIn(bob), await isIn(alice)]).toEqual([false, true]);
  expect((await world.command(["tokens", "sign-out", tokens[0].name])).out).toContain(
    "Signed 2 browsers of alice-",
  );
  expect([await isIn(alice), await isIn(other)]).toEqual([false, false]);
  expect(await world.command(["tokens", "sign-out", "nobody"])).toMatchObject({ code: 1 });
});

it("stops trusting a group within seconds after a change of the configuration", async () => {
  const { world, started, signIn, configure } = await openCompany();
  const alice = await signIn("alice", ["admins"]);
  const apply = (roles: object) => {
    configure({ roles });
    return started.reload();
  };
  expect(await apply({ member: ["admins"] })).toMatchObject({ applied: ["gateway"], forStart: [] });
  await expect.poll(async () => (await alice.request("/api/status")).status).toBe(403);
  await apply({ member: ["others"] });
  await expect.poll(() => isIn(alice)).toBe(false);
  await expect
    .poll(async () => JSON.parse((await world.command(["tokens", "list", "--json"])).out))
    .toEqual([]);
});

it("is checked by the doctor", async () => {
  const { world, started, idp, configure } = await openCompany();
  const port = Number(new URL(started.url).port);
  await started.stop();
  const check = async (): Promise<string> =>
    JSON.parse((await world.command(["doctor", "--json"])).out)
      .filter(({ part }: { part: string }) => part === "sign-in")
      .map(({ state, detail }: { state: string; detail: string }) => `${state}: ${detail}`)
      .join("\n");
  const auth = { token: TOKEN, oidc: { ...CLIENT, issuer: idp.url }, roles: ROLES };
  world.configure(demoConfig({ gateway: { port, logLevel: "warn", auth } }));
  expect(await check()).toMatch(
    /^ok: .* accepts the redirect URI http:\/\/127\.0\.0\.1:\d+\/oauth\/oidc\/callback$/,
  );
  world.configure(demoConfig({ gateway: { port: 1, logLevel: "warn", auth } }));
  expect(await check()).toMatch(/^error: the provider refuses the authorization request with status 400$/);
  configure({ roles: {}, proxy: { addresses: ["127.0.0.1"] } });
  await idp.stop();
  const found = await check();
  expect(found).toContain("error: no group has a role");
  expect(found).toContain("cannot be reached");
  expect(found).toContain("warning: trusts the headers of every program on this machine");
});
