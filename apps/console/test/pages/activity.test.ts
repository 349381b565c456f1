import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";

describe.skipIf(missing !== undefined)("the activity in Chromium", () => {
  const console = ownersConsole();

  it("is live, including after a reconnect, and is no longer watched on other pages", async () => {
    const { page, gateway } = console;
    const figure = (name: string) =>
      page.locator("dl > div").filter({ hasText: name }).locator("dd").first().textContent();
    await console.open("/activity");
    await expect.poll(() => figure("Runs in progress")).toBe("1");
    expect(await figure("Messages waiting")).toBe("1");
    const call = page.locator("[data-calls] > li").filter({ hasText: "exec" });
    await call.getByText("running").waitFor();
    const [run] = gateway.owners.activity.runs;
    const over = run?.calls.map((each) => ({ ...each, state: "failed" as const, durationMs: 75_000 })) ?? [];
    gateway.say({
      type: "activity",
      activity: { ...gateway.owners.activity, runs: run ? [{ ...run, calls: over }] : [], waiting: [] },
    });
    await call.getByText("failed").waitFor();
    await call.getByText("1 min").waitFor();
    await expect.poll(() => figure("Messages waiting")).toBe("0");
    gateway.owners.activity = { ...gateway.owners.activity, runs: [], waiting: [] };
    gateway.cut();
    await expect.poll(() => figure("Runs in progress")).toBe("0");
    await page.getByText("No agent is working").waitFor();
    await page.getByRole("link", { name: "Usage" }).press("Enter");
    await expect.poll(() => gateway.received.at(-1)?.type).toBe("unwatch");
  });

  it("leads by keyboard from a waiting message to its timeline", async () => {
    await console.open("/activity");
    await console.page.getByRole("link", { name: /还有上周的/ }).press("Enter");
    await expect.poll(() => console.page.url()).toContain("#/message/01KABE");
  });
});
