// Makes the pictures of the page for the README and the documentation, from the demo: `node scripts/picture.mjs` in
// apps/gateway, after a build.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGateway } from "@signalbox/gateway";
import { chromium } from "playwright-core";

const FOLDER = join(import.meta.dirname, "../../../docs");

/** Messages to send, by language. */
const TASKS = {
  en: ["remember that tea is at four", "list files"],
  zh: ["记住四点喝茶", "列出文件"],
};

const home = await mkdtemp(join(tmpdir(), "signalbox-picture-"));
// No environment: a vendor's key would put its model in the place of the demo.
const gateway = await createGateway({ home, env: {}, config: { gateway: { port: 0 } } });
const browser = await chromium.launch({
  executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu"],
});
try {
  for (const [language, tasks] of Object.entries(TASKS)) {
    const page = await browser.newPage({ viewport: { width: 1100, height: 640 }, locale: language });
    await page.goto(gateway.url);
    await page.locator("#token").fill(gateway.token);
    await page.locator("#token").press("Enter");
    const message = page.locator("main form textarea").first();
    for (const [place, task] of tasks.entries()) {
      await message.fill(task);
      await message.press("Enter");
      await page.getByRole("log").locator("[data-outcome]").nth(place).waitFor();
    }
    await page.getByRole("log").locator("article .markdown > *").first().waitFor();
    const suffix = language === "en" ? "" : `.${language}`;
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      const name = colorScheme === "light" ? `console${suffix}.png` : `console-dark${suffix}.png`;
      await writeFile(join(FOLDER, name), await page.screenshot());
    }
    await page.close();
  }
  console.log(`The pictures are in ${FOLDER}.`);
} finally {
  await browser.close();
  await gateway.stop();
  await rm(home, { recursive: true });
}
