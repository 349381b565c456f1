import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES, CONFIGURATION } from "../data/admin.ts";
import { Refusal } from "../routes.ts";
import { TOKEN } from "../stub-gateway.ts";

const CHECK = {
  text: "gateway:\n  port: 5000\n",
  diff: "-  port: 4747\n+  port: 5000\n",
  problems: [],
  errors: [],
  changed: ["gateway"],
  forStart: ["gateway.port"],
  programs: ["mcp.servers.files.command: npx"],
};
const WRITTEN = { revision: "r2", applied: ["replies"], forStart: [], kept: [], accounts: [], problems: [] };

describe.skipIf(missing !== undefined)("the configuration in Chromium", () => {
  const console = ownersConsole();

  it("is edited as a form, checked with its consequences, and applied", async () => {
    const { page, gateway } = console;
    await console.open("/configuration", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/check": CHECK,
      "POST /api/configuration": WRITTEN,
    });
    const apply = page.getByRole("button", { name: "Apply" });
    const check = page.getByRole("button", { name: "Check the changes" });
    await page.getByLabel("port", { exact: true }).fill("5000");
    expect(await apply.isDisabled()).toBe(true);
    await check.click();
    await page.getByText("Takes effect at the next start: gateway.port.").waitFor();
    await page.getByText("mcp.servers.files.command: npx").waitFor();
    await page.getByText("+  port: 5000").waitFor();
    await apply.click();
    await page.getByText("In effect: replies.").waitFor();
    const edits = [{ path: ["gateway", "port"], value: 5000 }];
    expect(gateway.changes).toEqual([
      { path: "/api/configuration/check", body: { revision: "r1", edits } },
      { path: "/api/configuration", body: { revision: "r1", edits } },
    ]);
  });

  it("keeps secrets, adds entries, and shows errors that refuse a change", async () => {
    const { page, gateway } = console;
    const error = {
      severity: "error",
      path: "models.providers.new",
      message: "has no key",
      remedy: "Set it.",
    };
    await console.open("/configuration?section=models", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/check": { ...CHECK, problems: [error], errors: [error] },
    });
    const key = page.getByLabel("apiKey", { exact: true });
    expect(await key.inputValue()).toBe("");
    await page.getByText("The secret is kept.").waitFor();
    await page.getByLabel("Name of a new entry: providers").fill("new");
    await page.getByRole("button", { name: "Add to providers" }).click();
    await page.getByLabel("api", { exact: true }).last().selectOption("demo");
    await page.getByRole("button", { name: "Check the changes" }).click();
    await page.getByText("models.providers.new has no key. Set it.").waitFor();
    expect(await page.getByRole("button", { name: "Apply" }).isDisabled()).toBe(true);
    expect(gateway.changes[0]?.body).toEqual({
      revision: "r1",
      edits: [{ path: ["models", "providers", "new"], value: { api: "demo" } }],
    });
  });

  it("is edited as text, and offers to load a file that has changed meanwhile", async () => {
    const { page, gateway } = console;
    await console.open("/configuration?view=text", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/check": () => {
        throw new Refusal(409, "conflict", "changed");
      },
    });
    const text = page.getByLabel("Text of the file");
    expect(await text.inputValue()).toBe(CONFIGURATION.text);
    await text.fill("gateway: {}\n");
    await page.getByRole("button", { name: "Check the changes" }).click();
    gateway.routes["GET /api/configuration"] = { ...CONFIGURATION, revision: "r2", text: "# new\n" };
    await page.getByRole("button", { name: "Load it again" }).click();
    await expect.poll(() => text.inputValue()).toBe("# new\n");
  });

  it("asks for the token again before a sensitive change, an hour after the sign-in", async () => {
    const { page } = console;
    let isRecent = false;
    await console.open("/configuration?view=text", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/check": () => {
        if (!isRecent) throw new Refusal(403, "sign_in_again", "Sign in again.");
        return CHECK;
      },
    });
    await page.getByLabel("Text of the file").fill("gateway: {}\n");
    await page.getByRole("button", { name: "Check the changes" }).click();
    const dialog = page.getByRole("dialog", { name: "Sign in again" });
    await dialog.getByLabel("Gateway token").fill("wrong");
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await dialog.getByText("This token is wrong or has been revoked.").waitFor();
    isRecent = true;
    await dialog.getByLabel("Gateway token").fill(TOKEN);
    await dialog.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("+  port: 5000").waitFor();
    await dialog.waitFor({ state: "hidden" });
  });

  it("shows earlier versions and restores one", async () => {
    const { page, gateway } = console;
    await console.open("/configuration?view=history", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/rollback": WRITTEN,
    });
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("+  port: 1").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Restore" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
    await page.getByText("The version has been restored.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/configuration/rollback", body: { id: "2026-11-22T14-35-00.000Z", revision: "r1" } },
    ]);
  });
});
