import { describe, expect, it } from "vitest";
import { findings } from "../axe.ts";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";
import { OWNERS } from "../data/owners.ts";

describe.skipIf(missing !== undefined)("approvals in Chromium", () => {
  const console = ownersConsole();
  const button = (name: string) => console.page.getByRole("button", { name, exact: true });
  const card = () => console.page.getByRole("article", { name: /Waiting for approval/ });

  it.each([
    [1280, 720],
    [390, 844],
    [360, 640],
  ])("shows the buttons next to the chat in a window of %i × %i", async (width, height) => {
    const { page, gateway } = console;
    const [approval] = OWNERS.full.approvals;
    if (approval === undefined) throw new Error("there is no approval");
    gateway.owners.approvals = [
      { ...approval, action: "make && ".repeat(400) },
      { ...approval, id: "WXYZ6789", tool: "write" },
    ];
    await page.setViewportSize({ width, height });
    await console.open("/");
    await card().getByText("1 / 2").waitFor();
    const composer = await page.getByRole("textbox").boundingBox();
    for (const name of ["Allow once", "Always allow", "Deny"]) {
      const box = await button(name).boundingBox();
      expect(box?.y, name).toBeGreaterThan(0);
      expect((box?.y ?? height) + (box?.height ?? 0), name).toBeLessThan(composer?.y ?? 0);
    }
    expect((composer?.y ?? height) + (composer?.height ?? 0)).toBeLessThan(height);
    await keepShot(page, `chat-approval-${width}`);
    expect(await findings(page)).toEqual([]);
    await button("Deny").click();
    await page.getByRole("article", { name: "Waiting for approval: write" }).waitFor();
  });

  it("shows unusual programs and variables, and folds the usual ones", async () => {
    const { gateway } = console;
    const [approval] = OWNERS.full.approvals;
    if (approval === undefined) throw new Error("there is no approval");
    const env = { PATH: "/usr/bin", LD_PRELOAD: "/tmp/evil.so" };
    gateway.owners.approvals = [{ ...approval, binary: "/tmp/rm", env }];
    await console.open("/approvals");
    await card().getByText("/tmp/rm", { exact: true }).waitFor();
    expect(await card().getByText("LD_PRELOAD=/tmp/evil.so").isVisible()).toBe(true);
    expect(await card().getByText("registry.npmjs.org").isVisible()).toBe(true);
    expect(await card().getByText("PATH=/usr/bin").isVisible()).toBe(false);
    await card().getByText("Program, folder and variables").click();
    expect(await card().getByText("PATH=/usr/bin").isVisible()).toBe(true);
  });

  it("decides next to the chat and confirms it", async () => {
    const { page, gateway } = console;
    await console.open("/");
    await button("Allow once").press("Enter");
    await page.getByRole("status").getByText("Allowed. exec").waitFor();
    await card().waitFor({ state: "detached" });
    // The button disappeared with its card, and the region has the focus.
    await expect.poll(() => page.locator("section:focus").count()).toBe(1);
    expect(gateway.changes).toEqual([{ path: "/api/approvals/ABCD2345", body: { answer: "allow-once" } }]);
  });

  it("sends one decision for a double click", async () => {
    await console.open("/approvals");
    await button("Allow once").dblclick();
    await console.page.getByText("Nothing is waiting for approval").waitFor();
    expect(console.gateway.changes).toHaveLength(1);
  });

  it("reports an approval that someone else decided", async () => {
    const { page, gateway } = console;
    await console.open("/approvals");
    await button("Deny").waitFor();
    gateway.owners.approvals = [];
    await button("Deny").click();
    await page.getByText("This request is no longer pending").waitFor();
    await page.getByText("Nothing is waiting for approval").waitFor();
  });

  it("replaces a card that was decided elsewhere with a note, which stays until it is dismissed", async () => {
    await console.visitAgain();
    const { page, gateway } = console;
    await console.open("/");
    await card().waitFor();
    await page.clock.install();
    gateway.owners.approvals = [];
    await page.clock.runFor(10_000);
    await page.getByText("This request is no longer pending").waitFor();
    expect(await card().count()).toBe(0);
    expect(await button("Allow once").count()).toBe(0);
    await button("Dismiss").click();
    await page.getByText("This request is no longer pending").waitFor({ state: "detached" });
  });

  it("lists earlier requests with their outcomes", async () => {
    await console.open("/approvals");
    const history = console.page.getByRole("table", { name: "History" });
    await history.getByRole("row").filter({ hasText: "git push" }).getByText("denied").waitFor();
    await history.getByRole("row").filter({ hasText: "ls -la" }).getByText("allowed").waitFor();
    await history.getByText("telegram:5001").waitFor();
  });
});
