import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";

describe.skipIf(missing !== undefined)("usage in Chromium", () => {
  const console = ownersConsole();

  it("is grouped and limited by the search parameters of the URL", async () => {
    const { page, gateway } = console;
    await console.open("/usage");
    const totals = page.getByRole("region", { name: "Usage" });
    await totals.getByText("$1.2755").waitFor();
    await totals.getByText("16", { exact: true }).waitFor();
    await page.getByText("$0.7655 of $2.00 left").waitFor();
    // The latest day comes first, and the most expensive one has the longest bar.
    const rows = page.locator("tbody tr");
    expect(await rows.nth(1).locator("td").first().textContent()).toBe("2026-11-21");
    const widths = await rows
      .locator("[data-bar] > *")
      .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
    expect(Math.max(...widths)).toBe(widths[1]);
    const asked = () => console.requested.filter((url) => url.includes("/api/usage?")).at(-1);
    expect(asked()).toMatch(/\/api\/usage\?by=day&days=30$/);
    await page.getByLabel("Group by").selectOption("Session");
    await expect.poll(asked).toMatch(/by=session&days=30$/);
    await page.getByLabel("Period").selectOption("All time");
    await expect.poll(asked).toMatch(/by=session$/);
    await page.getByRole("table", { name: "Usage" }).getByRole("link", { name: "2026-11-21" }).waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("Group by").inputValue()).toBe("session");
    // Invalid search parameters are ignored.
    await page.goto(`${gateway.url}/#/usage?by=nothing&days=-3`);
    await expect.poll(() => page.getByLabel("Group by").inputValue()).toBe("day");
  });

  it("is drawn over time by model, agent, channel, person and session", async () => {
    const { page } = console;
    await console.open("/usage?by=agent&days=all");
    const chart = page.getByRole("region", { name: "Course over time" });
    await chart.getByText("coder").waitFor();
    const series = () => console.requested.filter((url) => url.includes("/api/usage/series")).at(-1);
    expect(series()).toMatch(/by=agent$/);
    await page.getByLabel("Group by").selectOption("Model");
    await expect.poll(series).toMatch(/by=model$/);
    await page.getByLabel("Group by").selectOption("Channel");
    await expect.poll(series).toMatch(/by=channel$/);
    await page.getByLabel("Group by").selectOption("Person");
    await expect.poll(series).toMatch(/by=sender$/);
    await chart.getByText("Tokens").click();
    await expect.poll(() => page.url()).toContain("measure=tokens");
  });
});
