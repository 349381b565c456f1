import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES } from "../data/admin.ts";

describe.skipIf(missing !== undefined)("pages about the system in Chromium", () => {
  const console = ownersConsole();

  it("creates a token, shows its secret once, and revokes another", async () => {
    const { page, gateway } = console;
    await console.open("/tokens", {
      ...ADMIN_ROUTES,
      "POST /api/tokens": { name: "ci", role: "viewer", token: "sbt_the-secret" },
      "POST /api/tokens/*/revoke": () => undefined,
    });
    await page.getByRole("button", { name: "New token" }).click();
    const form = page.getByRole("dialog", { name: "New token" });
    await form.getByLabel("Name").fill("ci");
    await form.getByRole("radio", { name: "Viewer" }).check();
    await form.getByRole("button", { name: "Create" }).click();
    const created = page.getByRole("dialog", { name: "The token of ci" });
    await created.getByText("sbt_the-secret").waitFor();
    await created.getByRole("button", { name: "Done" }).click();
    await created.waitFor({ state: "hidden" });
    expect(await page.content()).not.toContain("sbt_the-secret");
    await page.getByRole("row").filter({ hasText: "board" }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("The token board has been revoked.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/tokens", body: { name: "ci", role: "viewer" } },
      { path: "/api/tokens/board/revoke", body: {} },
    ]);
  });

  it("warns before a reply with an unknown outcome is sent again", async () => {
    const { page, gateway } = console;
    await console.open("/outbox", { ...ADMIN_ROUTES, "POST /api/outbox/*/retry": { was: "uncertain" } });
    await page.getByRole("button", { name: "Send again" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("would then appear twice").waitFor();
    await dialog.getByRole("button", { name: "Send again" }).click();
    await page.getByText("The reply is being sent again.").waitFor();
    expect(gateway.changes).toEqual([{ path: "/api/outbox/o1/retry", body: {} }]);
  });

  it("shows the buttons of pages without entries in another color than their background", async () => {
    const { page } = console;
    const pages = [
      ["/mcp", "Open the configuration"],
      ["/models", "Set up providers"],
    ] as const;
    for (const [path, button] of pages) {
      await console.open(path, {
        ...ADMIN_ROUTES,
        "GET /api/mcp": { servers: [] },
        "GET /api/models": { providers: [], models: [] },
      });
      // axe reports nothing about a text in exactly the color of its background.
      const link = page.locator("[data-page] [role=status]").getByRole("link", { name: button });
      const { color, background } = await link.evaluate((element) => {
        const style = getComputedStyle(element);
        return { color: style.color, background: style.backgroundColor };
      });
      expect(color, path).not.toBe(background);
    }
  });

  it("labels no empty actions on a phone", async () => {
    const { page } = console;
    await console.open("/outbox", ADMIN_ROUTES);
    await page.setViewportSize({ width: 360, height: 720 });
    const cells = page.getByRole("cell").filter({ has: page.getByRole("button") });
    await cells.first().waitFor();
    const labels = await cells.evaluateAll((all) =>
      all.map((cell) => getComputedStyle(cell, "::before").content),
    );
    expect(labels).toEqual(labels.map(() => "none"));
  });

  it("filters the log by level and text", async () => {
    const { page } = console;
    const levels: (string | null)[] = [];
    const lines = { lines: [{ at: 0, level: "error", message: "a fault", fields: {} }] };
    await console.open("/logs", {
      ...ADMIN_ROUTES,
      "GET /api/logs": ({ url }) => {
        levels.push(url.searchParams.get("level"));
        return lines;
      },
    });
    await page.getByText("a fault").waitFor();
    await page.getByLabel("Minimum level").selectOption("error");
    await expect.poll(() => levels).toContain("error");
    await page.getByRole("searchbox").fill("nothing like this");
    await page.getByText("No lines").waitFor();
  });

  it("pages through the audit log, filters it, and verifies the chain", async () => {
    const { page } = console;
    await console.open("/audit", {
      ...ADMIN_ROUTES,
      "GET /api/audit": ({ url }) => ({
        entries: [
          {
            seq: url.searchParams.has("before") ? 1 : 2,
            at: 0,
            kind: "tool",
            action: "x",
            actor: "y",
            subject: "z",
          },
        ],
        ...(url.searchParams.has("before") ? {} : { next: 2 }),
      }),
    });
    await page.getByRole("button", { name: "Load more" }).click();
    await page.getByRole("button", { name: "Load more" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Verify the chain" }).click();
    await page.getByText("All 2 entries are intact.").waitFor();
    await page.getByLabel("Area", { exact: true }).selectOption("tool");
    await expect.poll(() => console.requested.some((url) => url.includes("kind=tool"))).toBe(true);
  });

  it("offers no changes to a token that may only read", async () => {
    const { page, gateway } = console;
    gateway.user = { id: "board", name: "board", role: "viewer", scopes: ["read"] };
    await console.open("/schedules", ADMIN_ROUTES);
    await page.getByText("总结昨天的会议").waitFor();
    for (const [path, title, expected] of [
      ["/schedules", "Schedules", []],
      ["/tokens", "Tokens", []],
      ["/outbox", "Outbox", []],
      ["/skills", "Skills", ["Copy", "Copy"]],
      ["/configuration", "Configuration", ["Copy"]],
    ] as const) {
      await page.goto(`${gateway.url}/#${path}`);
      const sheet = page.locator("[data-page]", {
        has: page.getByRole("heading", { level: 2, name: title }),
      });
      await sheet.locator(":is(table, fieldset, article, pre)").first().waitFor();
      expect(await sheet.getByRole("button").allTextContents(), path).toEqual(expected);
    }
    expect(await page.getByLabel("port", { exact: true }).isDisabled()).toBe(true);
  });

  it("does not offer the chat to a token that may only read, and requests nothing of it", async () => {
    const { page, gateway } = console;
    gateway.user = { id: "board", name: "board", role: "viewer", scopes: ["read"] };
    for (const path of ["/", "/c/some-conversation"]) {
      await console.open(path, ADMIN_ROUTES);
      await page.getByRole("heading", { level: 2, name: "Activity" }).waitFor();
    }
    expect(await page.getByRole("link", { name: "Chat" }).count()).toBe(0);
    await page.keyboard.press("c");
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Search or jump to…").fill("Usage");
    await page.getByRole("button", { name: "Usage" }).waitFor();
    await page.getByPlaceholder("Search or jump to…").fill("Chat");
    await page.getByText("Nothing found.").waitFor();
    expect(page.url()).toContain("#/activity");
    expect(console.requested.filter((url) => url.includes("/api/conversations"))).toEqual([]);
  });

  it("shows problems before what is in order", async () => {
    const { page } = console;
    await console.open("/health", ADMIN_ROUTES);
    const problems = page.getByRole("region", { name: "Needs attention" });
    await problems.getByText("Free some space.").waitFor();
    expect(await problems.getByText("Node.js").count()).toBe(0);
  });
});
