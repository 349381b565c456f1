/** Debian's Chromium, and the built page for it. */
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { vi } from "vitest";

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

/** Why the page cannot be tested here; undefined where it can. */
export function whyNot(): string | undefined {
  return existsSync(EXECUTABLE) ? undefined : `there is no Chromium at ${EXECUTABLE} (set CHROMIUM)`;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}

/** Keeps what a page looks like for whoever asked for it: in the folder that `SIGNALBOX_SCREENSHOTS` names. */
export async function keepShot(page: Page, name: string): Promise<void> {
  const folder = process.env["SIGNALBOX_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** The page as it is shipped, which the package's build makes. */
export const SHIPPED = join(import.meta.dirname, "..", "dist");

/** Builds the page into `folder`, by the name of the mode that React is in. */
export async function buildPage(folder: string, mode: "production" | "development"): Promise<string> {
  const outDir = join(folder, mode);
  // The tests' own value would give the development build.
  vi.stubEnv("NODE_ENV", mode);
  try {
    await build({ root: join(import.meta.dirname, ".."), logLevel: "error", build: { outDir } });
  } finally {
    vi.unstubAllEnvs();
  }
  return outDir;
}

let development: Promise<string> | undefined;

/** The page with React's development build, which complains of what the other passes over in silence; built once. */
export function developmentPage(): Promise<string> {
  development ??= mkdtemp(join(tmpdir(), "signalbox-console-")).then((folder) =>
    buildPage(folder, "development"),
  );
  return development;
}
