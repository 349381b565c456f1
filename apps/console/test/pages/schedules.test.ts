import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES } from "../data/admin.ts";

describe.skipIf(missing !== undefined)("schedules in Chromium", () => {
  const console = ownersConsole();

  it("adds, runs, pauses, continues and deletes schedules, and links to the latest run", async () => {
    const { page, gateway } = console;
    const refused = { ok: false, message: "Write a time such as 2h 30m." };
    await console.open("/schedules", {
      ...ADMIN_ROUTES,
      "POST /api/schedules": refused,
      "POST /api/schedules/*/run": { outcome: "taken" },
      "POST /api/schedules/*/pause": () => undefined,
      "POST /api/schedules/*/remove": () => undefined,
    });
    const daily = page.getByRole("row").filter({ hasText: "总结昨天的会议" });
    const links = daily.getByRole("link");
    expect(await links.first().textContent()).toBe("项目组 · feishu");
    expect(await links.last().getAttribute("href")).toBe("#/message/01KABC");
    await daily.getByRole("button", { name: "Run now" }).click();
    await page.getByText("It runs now.").waitFor();
    await daily.getByRole("button", { name: "Pause" }).click();
    await page.getByText("The schedule is paused.").waitFor();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("The schedule continues.").waitFor();
    await daily.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("The schedule has been deleted.").waitFor();
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("dialog", { name: "New schedule" });
    await form.getByLabel("Text for the agent").fill("Say hello");
    await form.getByLabel("Time", { exact: true }).fill("often");
    await form.getByRole("button", { name: "Create" }).click();
    await form.getByText("Write a time such as 2h 30m.").waitFor();
    expect(gateway.changes.map(({ path, body }) => [path, body])).toEqual([
      ["/api/schedules/a1b2c3d4/run", {}],
      ["/api/schedules/a1b2c3d4/pause", { paused: true }],
      ["/api/schedules/e5f6/pause", { paused: false }],
      ["/api/schedules/a1b2c3d4/remove", {}],
      ["/api/schedules", expect.objectContaining({ text: "Say hello", every: "often" })],
    ]);
  });
});
