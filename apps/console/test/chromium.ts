/** Connects to Chromium and builds the page. */
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { inject, vi } from "vitest";

export const EXECUTABLE: string = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

export const ARGUMENTS: string[] = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Time limit for each step in a browser, in milliseconds. A busy machine takes longer than Playwright's 30 seconds. */
export const MAX_STEP_MS = 90_000;

/** Reason why the page cannot be tested on this machine, or undefined. */
export function whyNot(): string | undefined {
  return existsSync(EXECUTABLE) ? undefined : `there is no Chromium at ${EXECUTABLE} (set CHROMIUM)`;
}

let browser: Promise<Browser> | undefined;

/** Returns the browser of the suite. The files of the suite share this connection. */
export function connect(): Promise<Browser> {
  browser ??= chromium.connect(inject("browser"), { timeout: MAX_STEP_MS });
  return browser;
}

/** Saves a screenshot in the folder `SIGNALBOX_SCREENSHOTS`, if set. */
export async function keepShot(page: Page, name: string): Promise<void> {
  const folder = process.env["SIGNALBOX_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** The production build of the page. */
export const SHIPPED: string = join(import.meta.dirname, "..", "dist");

/** Time limit for a build, in milliseconds. Building takes seconds, but minutes on a machine that does much else. */
export const MAX_BUILD_MS = 600_000;

/** Builds the page into `folder`, in React's development or production mode. */
export async function buildPage(folder: string, mode: "production" | "development"): Promise<string> {
  const outDir = join(folder, mode);
  // Vitest sets NODE_ENV to `test`, which selects the development build.
  vi.stubEnv("NODE_ENV", mode);
  try {
    await build({
      root: join(import.meta.dirname, ".."),
      logLevel: "error",
      // Tests do not read compressed and minified files of the development build.
      build: { outDir, minify: mode === "production" },
      define: { "process.env.NODE_ENV": JSON.stringify(mode) },
    });
  } finally {
    vi.unstubAllEnvs();
  }
  return outDir;
}

let development: Promise<string> | undefined;

/** Builds the page once with React's development build, which logs errors that the production build ignores. */
export function developmentPage(): Promise<string> {
  development ??= mkdtemp(join(tmpdir(), "signalbox-console-")).then((folder) =>
    buildPage(folder, "development"),
  );
  return development;
}
