// Makes the picture of the page in the README, from the demo: `node scripts/picture.mjs` in apps/gateway, once built.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "@signalbox/gateway";
import { chromium } from "playwright-core";

const PICTURE = join(import.meta.dirname, "../../../docs/console.png");
const TASKS = ["remember that tea is at four", "list files"];

const home = await mkdtemp(join(tmpdir(), "signalbox-picture-"));
// No environment: a vendor's key would put its model in the place of the demo.
const gateway = await createGateway({ home, env: {}, config: { gateway: { port: 0 } } });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 640 }, locale: "en" });
  await page.goto(gateway.url);
  await page.getByLabel("Gateway token").fill(gateway.token);
  await page.getByLabel("Gateway token").press("Enter");
  const message = page.getByRole("textbox", { name: /^Message / });
  for (const [place, task] of TASKS.entries()) {
    await message.fill(task);
    await message.press("Enter");
    await page.locator(".end").nth(place).waitFor();
  }
  await page.getByRole("log").locator("article .markdown > *").first().waitFor();
  await writeFile(PICTURE, await page.screenshot());
  console.log(`The picture is ${PICTURE}.`);
} finally {
  await browser.close();
  await gateway.stop();
  await rm(home, { recursive: true });
}
