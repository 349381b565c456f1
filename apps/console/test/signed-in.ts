/** A page of a fresh browser, signed in at a stand-in gateway; what it complains of is kept. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { type StubGateway, TOKEN } from "./stub-gateway.ts";

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Addresses that were asked for. */
  readonly requested: string[];
  /** What the browser or React complained of. */
  readonly violations: string[];
}

export async function visit(browser: Browser, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1180, height: 800 }, ...options });
  const page = await context.newPage();
  const requested: string[] = [];
  const violations: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("websocket", (socket) => requested.push(socket.url()));
  page.on("pageerror", (error) => violations.push(String(error)));
  page.on("console", (entry) => {
    // What the stub refuses on purpose is noted there, too; what matters is the policy and React.
    const text = entry.text();
    if (entry.type() === "error" && !/^Failed to load resource|^WebSocket connection to/.test(text))
      violations.push(text);
  });
  return { context, page, requested, violations };
}

/** Signs in where the form is English or Chinese. */
export async function signIn(page: Page, gateway: StubGateway, path = "/"): Promise<void> {
  await page.goto(gateway.url + path);
  await page.locator("#token").fill(TOKEN);
  await page.locator("#token").press("Enter");
  await page.locator(".sidebar").waitFor({ state: "attached" });
}
