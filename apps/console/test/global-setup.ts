/** Starts one browser for all tests of the suite. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { ARGUMENTS, EXECUTABLE, MAX_STEP_MS, whyNot } from "./chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** WebSocket URL of the browser. Empty if there is none. */
    browser: string;
  }
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (whyNot() !== undefined) {
    project.provide("browser", "");
    return undefined;
  }
  const server = await chromium.launchServer({
    executablePath: EXECUTABLE,
    args: ARGUMENTS,
    timeout: MAX_STEP_MS,
  });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
