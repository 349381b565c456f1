/** Debian's Chromium, and the built page for it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
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
