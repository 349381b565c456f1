// `node browser-child.ts <folder> <address>` opens a page in an agent's browser, prints `ready` and waits.
import { createBrowsers } from "../../src/agent/browser/browsers.ts";
import { findPrograms, resolveTestNames } from "./browser-site.ts";

const [dir = "", address = ""] = process.argv.slice(2);
const browsers = createBrowsers({
  dir,
  settings: () => ({ maxBrowsers: 1 }),
  findPrograms: () => findPrograms(dir),
  version: "1.0.0",
  logger: { debug: () => {}, warn: () => {} },
  now: Date.now,
  egress: { allow: [new URL(address).host], resolve: resolveTestNames },
});
const context = { signal: AbortSignal.timeout(150_000), resultChars: 10_000 };
const result = await browsers.forAgent("coder")?.call("browser_navigate", { url: address }, "s", context);
console.log(result?.isError === true ? JSON.stringify(result.content) : "ready");
setInterval(() => {}, 60_000);
