/** The sign-in at a real OpenID provider, in Chromium, and with its access tokens. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { launch, openContext, whyNoBrowser } from "../support/chromium.ts";
import { demoConfig, openWorld, type Started, TOKEN, type World } from "../support/harness.ts";
import {
  OIDC_AUDIENCE,
  OIDC_CLIENT,
  type RealProvider,
  startRealProvider,
} from "../support/oidc-provider.ts";

const missing = whyNoBrowser();
if (missing !== undefined) console.log(`The company sign-in is not tested in a browser: ${missing}.`);

async function openCompany(): Promise<{ world: World; started: Started; provider: RealProvider }> {
  const provider = await startRealProvider();
  onTestFinished(() => provider.stop());
  const world = await openWorld();
  const oidc = {
    ...OIDC_CLIENT,
    issuer: provider.issuer,
    label: "Example Inc.",
    scopes: ["openid", "profile", "groups"],
    audience: OIDC_AUDIENCE,
  };
  const roles = { owner: ["admins"], member: ["staff"], viewer: ["programs"] };
  world.configure(
    demoConfig({ gateway: { port: 0, logLevel: "warn", auth: { token: TOKEN, oidc, roles } } }),
  );
  const started = await world.start();
  provider.register(started.url);
  return { world, started, provider };
}

/** Fills in the provider's pages: any password is right, and the person consents. */
async function signInAtProvider(page: Page, account: string): Promise<void> {
  await page.locator("input[name=login]").fill(account);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

const message = (page: Page) => page.getByRole("textbox", { name: /^Message / });

describe.skipIf(missing !== undefined)("the company sign-in, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  async function openPage(started: Started): Promise<Page> {
    const context = await openContext(browser, { viewport: { width: 1180, height: 800 } });
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(`${started.url}/#/tokens`);
    return page;
  }

  it("signs in at the provider, lists the session, and signs out here and there", async () => {
    const { started, provider } = await openCompany();
    provider.groups.set("alice", ["admins"]);
    const page = await openPage(started);
    await page.getByRole("button", { name: "Sign in with Example Inc." }).click();
    await signInAtProvider(page, "alice");
    await page.waitForURL(`${started.url}/#/tokens`);
    await page.getByText("This browser").waitFor();
    expect(await page.getByRole("table", { name: "Signed-in browsers" }).textContent()).toMatch(
      /alice-[0-9a-f]{12}/,
    );
    await page.getByRole("button", { name: /Account and settings/ }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Yes, sign me out" }).click();
    await page.waitForURL(`${started.url}/`);
    await page.getByRole("button", { name: "Sign in with Example Inc." }).waitFor();
  });

  it("refuses a person without a role, and accepts the token instead", async () => {
    const { started } = await openCompany();
    const page = await openPage(started);
    await page.getByRole("button", { name: "Sign in with Example Inc." }).click();
    await signInAtProvider(page, "guest");
    await page.getByText("None of your groups may use this gateway.").waitFor();
    await page.goto(started.url);
    await page.getByLabel("Gateway token").fill(TOKEN);
    await page.getByLabel("Gateway token").press("Enter");
    await message(page).waitFor();
  });
});

it("accepts an access token that the provider issued for the gateway", async () => {
  const { started, provider } = await openCompany();
  const getToken = async (): Promise<string> => {
    const response = await fetch(`${provider.issuer}/token`, {
      method: "POST",
      headers: { authorization: `Basic ${btoa("program:program-secret-0123456789-abcdefghijklmn")}` },
      body: new URLSearchParams({ grant_type: "client_credentials" }),
    });
    const body: unknown = await response.json();
    return String(Reflect.get(Object(body), "access_token"));
  };
  const call = async (path: string): Promise<number> =>
    (await fetch(started.url + path, { headers: { authorization: `Bearer ${await getToken()}` } })).status;
  expect(await call("/api/status")).toBe(401);
  provider.groups.set("program", ["programs"]);
  expect(await call("/api/status")).toBe(200);
  expect(await call("/api/conversations")).toBe(403);
});
