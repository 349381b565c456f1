import { describe, expect, it } from "vitest";
import { findings } from "../axe.ts";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES, CONFIGURATION } from "../data/admin.ts";
import { Refusal } from "../routes.ts";
import { TOKEN } from "../stub-gateway.ts";

const CHECK = {
  text: "gateway:\n  port: 5000\n",
  diff: "-  port: 4747\n+  port: 5000\n",
  problems: [],
  errors: [],
  changed: ["gateway", "replies"],
  keys: ["gateway.port", "replies.typing"],
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
    await page
      .getByText(
        "at once, except for these keys, which the gateway reads when it starts: gateway.host gateway.port",
      )
      .waitFor();
    await page.getByText("Nothing has changed.").waitFor();
    await page.getByLabel("port", { exact: true }).fill("5000");
    await page.getByText("Check the changes before you apply them.").waitFor();
    expect(await apply.isDisabled()).toBe(true);
    await check.click();
    await page.getByText("Takes effect at the next start: gateway.port.").waitFor();
    await page.getByText("Takes effect at once: replies.typing").waitFor();
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

  it("describes settings in Chinese, with a note about keys that need a restart", async () => {
    await console.visitAgain({ locale: "zh-CN" });
    const { page } = console;
    const properties = {
      gateway: {
        type: "object",
        description: "The gateway's network address and access to it.",
        properties: {
          port: { type: "integer", description: "The port; 0 picks a free one." },
          token: { type: "string", description: "Bot token: Only for a proxy" },
          own: { type: "string", description: "A setting of another package." },
        },
      },
    };
    await console.open("/configuration", {
      ...ADMIN_ROUTES,
      "GET /api/configuration/schema": { type: "object", properties },
    });
    await page.getByText("网关的网络地址及其访问方式。").waitFor();
    await page.getByText("端口；0 表示选择一个空闲端口。修改在下次启动后生效。").waitFor();
    await page.getByText("机器人令牌：仅在使用代理时填写").waitFor();
    await page.getByText("A setting of another package.").waitFor();
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
    await page.getByText("Correct the errors, then check the changes again.").waitFor();
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

  it("numbers the lines of the text, and leads from an error to its line", async () => {
    const { page } = console;
    const error = {
      severity: "error",
      path: "gateway.port",
      line: 12,
      message: "is wrong",
      remedy: "Fix it.",
    };
    await console.open("/configuration?view=text", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/check": { ...CHECK, problems: [error], errors: [error] },
    });
    const text = page.getByLabel("Text of the file");
    const lines = Array.from({ length: 14 }, (_, index) => `# line ${index + 1}`);
    await text.fill(lines.join("\n"));
    const numbers = page.locator("[data-line-numbers] span");
    expect(await numbers.allInnerTexts()).toEqual(lines.map((_, index) => String(index + 1)));
    await page.getByRole("button", { name: "Check the changes" }).click();
    await page.getByRole("button", { name: "Line 12:" }).click();
    const selected = () =>
      text.evaluate((field: HTMLTextAreaElement) =>
        field.value.slice(field.selectionStart, field.selectionEnd),
      );
    await expect.poll(selected).toBe("# line 12");
    expect(await page.locator("[data-faulty]").allInnerTexts()).toEqual(["12"]);
    expect(await findings(page)).toEqual([]);
    await text.press("End");
    await text.pressSequentially("!");
    expect(await page.locator("[data-faulty]").count()).toBe(0);
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

  it("lists who changed which keys, and restores a version after showing the difference", async () => {
    const { page, gateway } = console;
    await console.open("/configuration?view=history", {
      ...ADMIN_ROUTES,
      "POST /api/configuration/rollback": WRITTEN,
    });
    const latest = page.getByRole("row").filter({ hasText: "laptop owner" });
    const older = page.getByRole("row").filter({ hasText: "command line" });
    await latest.waitFor();
    const local = await page.evaluate(() =>
      new Date(1_700_000_000_000).toLocaleTimeString("en", {
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit",
      }),
    );
    expect(await latest.textContent()).toContain(local);
    expect(await latest.textContent()).toMatch(/gateway\.port\s*laptop owner/);
    expect(await older.textContent()).toMatch(/agents\.list\[0\]\.name skills\s*command line/);
    await latest.getByRole("button", { name: "Compare" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("+  port: 1").waitFor();
    await dialog.getByText("Takes effect at the next start: gateway.port.").waitFor();
    expect(gateway.changes).toEqual([]);
    await dialog.getByRole("button", { name: "Restore this version" }).click();
    await page.getByText("The version has been restored.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/configuration/rollback", body: { id: "2026-11-22T14-35-00.000Z", revision: "r1" } },
    ]);
  });
});
