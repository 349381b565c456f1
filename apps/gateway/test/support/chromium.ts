/** Debian's Chromium. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

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

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: EXECUTABLE, args: ARGUMENTS });
}
