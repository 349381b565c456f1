/** Debian's Chromium. */
import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from "playwright-core";

const EXECUTABLE = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const ARGUMENTS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Why nothing can be tested in a browser here; undefined where it can. */
export function whyNoBrowser(): string | undefined {
  return existsSync(EXECUTABLE) ? undefined : `there is no Chromium at ${EXECUTABLE} (set CHROMIUM)`;
}

/** Time limit for each step in a browser, in milliseconds. A busy machine takes longer than Playwright's 30 seconds. */
const MAX_STEP_MS = 90_000;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS, timeout: MAX_STEP_MS });
}

export async function openContext(
  browser: Browser,
  options?: BrowserContextOptions,
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(MAX_STEP_MS);
  return context;
}
