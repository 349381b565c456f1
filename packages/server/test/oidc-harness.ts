import {
  createTestBrowser,
  type FakeOidcProviderOptions,
  startFakeOidcProvider,
  type TestBrowser,
} from "@signalbox/testkit/oidc";
import { onTestFinished } from "vitest";
import { type AuthOptions, OIDC_CALLBACK_PATH } from "../src/index.ts";
import { openServer } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";
import { openAccess } from "./open-access.ts";

export type Settings = ReturnType<NonNullable<AuthOptions["settings"]>>;

export const ROLES = {
  owner: ["admins"],
  operator: ["ops"],
  viewer: ["audit"],
  member: ["staff"],
  monitor: ["probes"],
};

/** Starts a fake provider and a server that uses it. The test stops both. */
export async function openSignIn(
  change: Partial<NonNullable<Settings["oidc"]>> = {},
  provider: Partial<FakeOidcProviderOptions> = {},
) {
  const clock = { offsetMs: 0 };
  const now = (): number => Date.now() + clock.offsetMs;
  const store = await openAccess();
  const warnings: string[] = [];
  const quiet = (): void => {};
  const logger = {
    debug: quiet,
    error: quiet,
    warn: (details: object, text: string) => void warnings.push(`${text} ${JSON.stringify(details)}`),
  };
  let url = "";
  const idp = await startFakeOidcProvider({
    clientId: "signalbox",
    clientSecret: "a-secret-of-the-client",
    redirectUris: () => [url + OIDC_CALLBACK_PATH],
    now,
    ...provider,
  });
  onTestFinished(() => idp.stop());
  const live: { settings: Settings } = {
    settings: {
      tokenSignIn: true,
      roles: ROLES,
      oidc: {
        issuer: idp.url,
        clientId: "signalbox",
        clientSecret: "a-secret-of-the-client",
        label: "Example",
        scopes: ["openid", "profile"],
        groupsClaim: "groups",
        sessionHours: 12,
        ...change,
      },
    },
  };
  const options = { store, now, logger, settings: () => live.settings, publicUrl: () => url };
  const server = await openServer(createMemoryService(), options);
  ({ url } = server);
  /** Starts another server with the same store and the same public address. */
  const openSecond = () => openServer(createMemoryService(), options);

  const signIn = async (
    person: Parameters<typeof idp.approve>[1],
    browser: TestBrowser = createTestBrowser(url),
    authTime?: number,
  ): Promise<TestBrowser> => {
    const back = idp.approve(await browser.startOidc(), person, authTime);
    const arrived = await browser.arrive(back.href);
    const status = arrived.hash.startsWith("#sign-in=") ? await browser.redeem(arrived) : arrived.hash;
    if (status !== 200) throw new Error(`the sign-in failed with ${status}: ${warnings.join()}`);
    return browser;
  };
  return {
    ...server,
    idp,
    live,
    clock,
    warnings,
    store,
    signIn,
    openSecond,
    newBrowser: () => createTestBrowser(url),
  };
}

/** Returns the user of a browser's session, or the status of the refusal. */
export async function whoIs(browser: TestBrowser): Promise<unknown> {
  const response = await browser.request("/api/me");
  if (!response.ok) return response.status;
  const { user } = (await response.json()) as { user: { name: string; role: string } };
  return { name: user.name, role: user.role };
}
