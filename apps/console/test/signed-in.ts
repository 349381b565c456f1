/** Opens a page in a new browser context, signed in to a fake gateway, and records its errors. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { MAX_STEP_MS } from "./chromium.ts";
import { type StubGateway, TOKEN } from "./stub-gateway.ts";

/** Size of a window on a desktop, in CSS pixels. */
export const DESKTOP = { width: 1180, height: 800 };

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Requested URLs. */
  readonly requested: string[];
  /** Errors of the browser and React. */
  readonly violations: string[];
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  context.setDefaultTimeout(MAX_STEP_MS);
  const page = await context.newPage();
  const requested: string[] = [];
  const violations: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("websocket", (socket) => requested.push(socket.url()));
  page.on("pageerror", (error) => violations.push(String(error)));
  page.on("console", (entry) => {
    // Requests that the fake refuses on purpose are logged too. Only violations of the policy and React errors count.
    const text = entry.text();
    if (entry.type() === "error" && !/^Failed to load resource|^WebSocket connection to/.test(text))
      violations.push(text);
  });
  return { context, page, requested, violations };
}

/** Loads the page at a path. Fills in the English or Chinese sign-in form if the browser has no session. */
export async function openSignedIn(page: Page, gateway: StubGateway, path: string): Promise<void> {
  const ready = page.locator("main[data-ready]");
  const token = page.locator("#token");
  await page.goto(gateway.url + path);
  await ready.or(token).waitFor({ state: "attached" });
  if ((await token.count()) === 0) return;
  await token.fill(TOKEN);
  await token.press("Enter");
  await ready.waitFor({ state: "attached" });
}
