import { describe, expect, it } from "vitest";
import { findings } from "../axe.ts";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";

describe.skipIf(missing !== undefined)("the frame of the pages in Chromium", () => {
  const console = ownersConsole();
  const heading = (name: string) => console.page.getByRole("heading", { level: 2, name, exact: true });

  it("opens pages, conversations and actions from the command palette", async () => {
    const { page, gateway } = console;
    gateway.conversations = [{ id: "tea", agent: "writer", title: "About tea", updatedAt: 1 }];
    gateway.messages.set("tea", []);
    await console.open("/activity");
    await heading("Activity").waitFor();
    await page.keyboard.press("Control+k");
    const search = page.getByPlaceholder("Search or jump to…");
    await search.fill("usag");
    await keepShot(page, "palette");
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press("Enter");
    await heading("Usage").waitFor();
    await search.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await search.fill("about t");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("#/c/tea");
    await page.getByRole("button", { name: "Search or jump to…" }).click();
    await search.fill("nowhere");
    await page.getByText("Nothing found.").waitFor();
    await page.keyboard.press("Escape");
    await search.waitFor({ state: "detached" });
  });

  it("opens pages by keyboard and ignores the keys while the user writes", async () => {
    const { page } = console;
    await console.open("/activity");
    await heading("Activity").waitFor();
    // The two keys count only together, within a short time.
    await page.keyboard.type("gs");
    await heading("Sessions").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("gu?");
    expect(await page.getByRole("searchbox", { name: "Search sessions" }).inputValue()).toBe("gu?");
    await heading("Sessions").click();
    await page.keyboard.press("?");
    const list = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await list.getByText("Go to Usage").waitFor();
    await keepShot(page, "shortcuts");
    expect(await findings(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "detached" });
    await page.keyboard.press("c");
    await expect.poll(() => page.url()).toContain("#/c/");
  });

  it("shows how much is waiting for the owner, in the chat and at each page", async () => {
    const { page } = console;
    await console.open("/");
    await page.getByRole("link", { name: "Manage 2 waiting for you" }).click();
    await page.getByRole("link", { name: "People 1 waiting for you" }).waitFor();
    await page.getByRole("link", { name: "Approvals 1 waiting for you" }).waitFor();
  });

  it("keeps the chosen theme and language after a reload", async () => {
    const { page } = console;
    await console.open("/usage");
    const scheme = () =>
      page.evaluate(() => document.documentElement.getAttribute("data-mantine-color-scheme"));
    await expect.poll(scheme).toBe("light");
    await page.getByRole("button", { name: /Account and settings/ }).click();
    await page.getByRole("menuitemradio", { name: "Dark" }).click();
    await expect.poll(scheme).toBe("dark");
    await page.getByRole("menuitem", { name: "中文" }).click();
    await heading("用量").waitFor();
    await page.reload();
    await heading("用量").waitFor();
    expect(await scheme()).toBe("dark");
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh");
    await page.getByRole("button", { name: /账号与设置/ }).click();
    await page.getByRole("menuitemradio", { name: "跟随系统" }).click();
    await expect.poll(scheme).toBe("light");
  });

  it("says that an address has no page", async () => {
    await console.open("/nowhere");
    await heading("Page not found").waitFor();
    await console.page.getByRole("button", { name: "Go to the chat" }).click();
    await expect.poll(() => console.page.url()).toContain("#/c/");
  });

  it("shows an error, keeps the old data, and retries", async () => {
    const { page, gateway } = console;
    const { status } = gateway.owners;
    gateway.owners.status = undefined;
    await console.open("/channels");
    await page.getByRole("alert").getByText("There is no such thing.").waitFor();
    gateway.owners.status = status;
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("feishu/main").waitFor();
  });
});
