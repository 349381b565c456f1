/** Opens the pages for owners in Chromium against a fake gateway. */
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { connect, developmentPage, whyNot } from "./chromium.ts";
import { OWNERS } from "./data/owners.ts";
import type { Routes } from "./routes.ts";
import { signIn, type Visit, visit } from "./signed-in.ts";
import { type StubGateway, startStubGateway } from "./stub-gateway.ts";

/** Reason to skip the tests in a browser, or undefined. */
export const missing: string | undefined = whyNot();
if (missing !== undefined) console.log(`The pages are not tested: ${missing}.`);

export interface OwnersConsole {
  readonly page: Page;
  readonly gateway: StubGateway;
  /** Requested URLs. */
  readonly requested: readonly string[];
  /** Signs in as an owner and opens a page, for instance `/usage`. */
  open(path: string, routes?: Routes): Promise<void>;
  /** Opens the pages in a new browser context, for instance in another language. */
  visitAgain(options: BrowserContextOptions): Promise<void>;
}

/**
 * Opens the console for each test of a file, each with a fake gateway of its own. Fails a test if the browser or React
 * logs an error, if the content security policy is violated, or if something is requested from another host.
 */
export function ownersConsole(): OwnersConsole {
  let browser: Browser;
  let gateway: StubGateway;
  let visitor: Visit;
  let built: string;

  beforeAll(async () => {
    if (missing !== undefined) return;
    [built, browser] = await Promise.all([developmentPage(), connect()]);
  });
  beforeEach(async () => {
    gateway = await startStubGateway(built);
    gateway.owners = structuredClone(OWNERS.full);
    visitor = await visit(browser);
  });
  afterEach(async () => {
    const own = new URL(gateway.url).host;
    expect(visitor.requested.filter((url) => new URL(url).host !== own)).toEqual([]);
    expect(visitor.violations).toEqual([]);
    await visitor.context.close();
    await gateway.stop();
  });

  return {
    get page() {
      return visitor.page;
    },
    get gateway() {
      return gateway;
    },
    get requested() {
      return visitor.requested;
    },
    async open(path, routes = {}) {
      gateway.routes = { ...gateway.routes, ...routes };
      await signIn(visitor.page, gateway, `/#${path}`);
    },
    async visitAgain(options) {
      await visitor.context.close();
      visitor = await visit(browser, options);
    },
  };
}
