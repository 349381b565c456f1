import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";

describe.skipIf(missing !== undefined)("messages in Chromium", () => {
  const console = ownersConsole();

  it("leads by keyboard from a session to the timeline of a message", async () => {
    const { page, gateway } = console;
    const { why } = gateway.owners;
    if (why === undefined) throw new Error("there is no explanation");
    const heading = (name: string) => page.getByRole("heading", { level: 2, name, exact: true });
    await console.open("/sessions");
    await heading("Sessions").waitFor();
    // Screen readers announce the heading.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Sessions");
    await page.keyboard.press("Tab");
    await page.keyboard.type("feishu");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(1);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await heading("会议纪要").waitFor();
    gateway.owners.why = { ...why, trace: { ...why.trace, messageId: "om_1" } };
    await page.locator("[data-transcript] header a").first().press("Enter");
    await heading("Message").waitFor();
    const steps = page.locator("[data-timeline] > li");
    await expect
      .poll(() => steps.locator(":scope > span:first-child").allTextContents())
      .toEqual(["intake", "routing", "gate", "prompt", "model", "reply"]);
    // The model took most of the time, so its bar is the longest.
    const widths = await page
      .locator("[data-span]")
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
    expect(Math.max(...widths)).toBe(widths[4]);
    expect(widths[4]).toBeGreaterThan(900);
  });
});
