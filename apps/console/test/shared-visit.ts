/** A fake gateway and a signed-in browser that the tests of the suite share. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { connect, developmentPage, MAX_BUILD_MS } from "./chromium.ts";
import { DESKTOP, openSignedIn, type Visit, visit } from "./signed-in.ts";
import { type StubGateway, startStubGateway } from "./stub-gateway.ts";

interface Options {
  /** Reason to skip the tests, if any. */
  readonly missing: string | undefined;
  /** If true, each test starts without a session. */
  readonly isSignedOut?: boolean;
  /** Prepares the gateway before each test. */
  readonly prepare?: (gateway: StubGateway) => void;
}

export interface SharedVisit {
  readonly page: Page;
  readonly gateway: StubGateway;
  /** URLs that the current test has requested. */
  readonly requested: readonly string[];
  /** Loads the page at a path, and signs in unless the browser already is. */
  open(path: string): Promise<void>;
  /** Continues the test in a browser context of its own, for instance in another language or with another clock. */
  visitAgain(options?: BrowserContextOptions): Promise<void>;
}

let server: Promise<StubGateway> | undefined;

/** Context of the browser that the tests share. Undefined before the first test, and after a page hung. */
let shared: Visit | undefined;

/** Starts the gateway once. The files of the suite share it. */
function startGateway(): Promise<StubGateway> {
  server ??= developmentPage().then(startStubGateway);
  return server;
}

/**
 * Uses one fake gateway and one browser context for all tests of the suite, because a new context would load the
 * scripts and sign in again, which takes longer than most tests. Each test starts with a new document, an initial
 * gateway and the default settings. Fails a test if the browser or React logs an error, if the content security policy
 * is violated, or if something is requested from another host.
 */
export function shareVisit({ missing, isSignedOut = false, prepare = () => {} }: Options): SharedVisit {
  let browser: Browser;
  let gateway: StubGateway;
  let current: Visit;

  beforeAll(async () => {
    if (missing !== undefined) return;
    [gateway, browser] = await Promise.all([startGateway(), connect()]);
  }, MAX_BUILD_MS);
  beforeEach(async () => {
    gateway.reset();
    prepare(gateway);
    shared ??= await visit(browser);
    current = shared;
    if (isSignedOut) await removeSession(current, gateway);
  });
  afterEach(async () => {
    const own = new URL(gateway.url).host;
    try {
      expect(current.requested.filter((url) => new URL(url).host !== own)).toEqual([]);
      expect(current.violations).toEqual([]);
    } finally {
      if (current !== shared) await current.context.close();
      await restore(shared).catch(async (error: unknown) => {
        // A page that hangs must not fail the tests after it.
        await shared?.context.close();
        shared = undefined;
        throw error;
      });
    }
  });

  return {
    get page() {
      return current.page;
    },
    get gateway() {
      return gateway;
    },
    get requested() {
      return current.requested;
    },
    open: (path) => openSignedIn(current.page, gateway, path),
    async visitAgain(options) {
      if (current !== shared) await current.context.close();
      current = await visit(browser, options);
    },
  };
}

/** Leaves the document, and undoes what a test can change in the browser, except for the sign-in. */
async function restore(shared: Visit | undefined): Promise<void> {
  if (shared === undefined) return;
  const { context, page, requested, violations } = shared;
  await page.goto("about:blank");
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: "light" });
  for (const name of ["theme", "language"]) await context.clearCookies({ name });
  requested.length = 0;
  violations.length = 0;
}

/** Deletes the cookies and the stored key of the session. */
async function removeSession({ context, page }: Visit, gateway: StubGateway): Promise<void> {
  const developer = await context.newCDPSession(page);
  await developer.send("Storage.clearDataForOrigin", {
    origin: gateway.url,
    storageTypes: "cookies,local_storage",
  });
  await developer.detach();
}
