import { describe, expect, it } from "vitest";
import { findings } from "../axe.ts";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES } from "../data/admin.ts";

const WRITTEN = { revision: "r2", applied: [], forStart: [], kept: [], accounts: [], problems: [] };

describe.skipIf(missing !== undefined)("the setup page in Chromium", () => {
  const console = ownersConsole();
  const button = (name: string) => console.page.getByRole("button", { name, exact: true });

  it("checks a key, shows the provider's refusal, and makes one of its models the default", async () => {
    const { page, gateway } = console;
    const models = [
      { id: "claude-sonnet-4-6", name: "Claude Sonnet 4.6", isKnown: true },
      { id: "claude-next", isKnown: false },
    ];
    await console.open("/setup", {
      ...ADMIN_ROUTES,
      "POST /api/setup/provider": ({ body }) =>
        (body as { apiKey: string }).apiKey === "right"
          ? { ok: true, model: "claude-sonnet-4-6", models }
          : { ok: false, model: "claude-sonnet-4-6", models, detail: "invalid x-api-key" },
      "POST /api/setup/model": WRITTEN,
    });
    await page.getByLabel("API key").fill("wrong");
    await button("Check").click();
    await page.getByRole("alert").getByText("invalid x-api-key").waitFor();
    await button("Use this model anyway").waitFor();
    await page.getByLabel("API key").fill("right");
    await button("Check").click();
    await page.getByText("claude-sonnet-4-6 answers.").waitFor();
    await page.getByRole("combobox", { name: "Model", exact: true }).selectOption("claude-next");
    await keepShot(page, "setup-model");
    expect(await findings(page)).toEqual([]);
    await button("Use this model").click();
    await page.getByText("Agents now use anthropic/claude-next.").waitFor();
    expect(gateway.changes.at(-1)).toEqual({
      path: "/api/setup/model",
      body: { provider: "anthropic", apiKey: "right", model: "claude-next" },
    });
  });

  it("asks for the setup token of a Claude plan, and warns that Anthropic may not permit it", async () => {
    const { page, gateway } = console;
    await console.open("/setup", {
      ...ADMIN_ROUTES,
      "POST /api/setup/provider": () => ({
        ok: true,
        model: "claude-sonnet-4-6",
        models: [{ id: "claude-sonnet-4-6", isKnown: true }],
      }),
      "POST /api/setup/model": WRITTEN,
    });
    await page.getByRole("combobox", { name: "Provider" }).selectOption("claude");
    await page.getByText("Anthropic may not permit this access").waitFor();
    await page.getByLabel("Setup token").fill("token");
    await button("Check").click();
    await button("Use this model").click();
    await page.getByText("Agents now use claude/claude-sonnet-4-6.").waitFor();
    expect(gateway.changes.at(-1)?.body).toEqual({
      provider: "claude",
      apiKey: "token",
      model: "claude-sonnet-4-6",
    });
  });

  it("shows the steps that apply, the objection at each field, and the name of the connected bot", async () => {
    const { page, gateway } = console;
    const answers = [
      { ok: false, issues: [{ field: "appId", message: "appId must start with cli_" }] },
      { ok: false, issues: [], kind: "refused", settings: ["appSecret"], detail: "app secret invalid" },
      { ok: false, issues: [], kind: "unreachable", settings: [], detail: "open.feishu.cn: HTTP 503" },
      { ok: true, issues: [], name: "小助手", written: WRITTEN },
    ];
    await console.open("/setup", { ...ADMIN_ROUTES, "POST /api/setup/account": () => answers.shift() });
    await page.getByRole("combobox", { name: "Channel" }).selectOption("feishu");
    await page.getByText("https://<your address>/channels/feishu/main/events").waitFor();
    await page.getByText("npm install @larksuiteoapi/node-sdk").waitFor();
    await page.getByLabel("Verification token").waitFor();
    await page.getByLabel("How events arrive").selectOption("socket");
    await page.getByLabel("Verification token").waitFor({ state: "detached" });
    await page.getByLabel("App ID").fill("mine");
    await page.getByLabel("App secret").fill("s3cr3t");
    await button("Check and save").click();
    await page.getByText("appId must start with cli_").waitFor();
    expect(await page.getByLabel("App ID").getAttribute("aria-invalid")).toBe("true");
    await page.getByLabel("App ID").fill("cli_1");
    await button("Check and save").click();
    await page.getByRole("alert").getByText("app secret invalid").waitFor();
    await page.getByText("Feishu / Lark rejected App secret:").waitFor();
    expect(await page.getByLabel("App secret").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("App ID").getAttribute("aria-invalid")).not.toBe("true");
    await keepShot(page, "setup-channel");
    expect(await findings(page)).toEqual([]);
    await button("Check and save").click();
    await page.getByText("Feishu / Lark cannot be reached, so nothing was checked:").waitFor();
    await page.getByRole("alert").getByText("open.feishu.cn: HTTP 503").waitFor();
    await button("Try again").waitFor();
    await page.getByLabel("Your user id on Feishu / Lark").fill("ou_1");
    await button("Save anyway").click();
    await page.getByText("On the platform, the bot is called 小助手.").waitFor();
    expect(gateway.changes.at(-1)).toEqual({
      path: "/api/setup/account",
      body: {
        channel: "feishu",
        account: "main",
        settings: { appId: "cli_1", appSecret: "s3cr3t", transport: "socket" },
        owner: "ou_1",
        check: false,
      },
    });
    await page.getByRole("link", { name: "People", exact: true }).last().click();
    await page.getByRole("heading", { level: 2, name: "People" }).waitFor();
  });

  it("shows the texts of built-in channels in Chinese, and unknown texts as the channel wrote them", async () => {
    await console.visitAgain({ locale: "zh-CN" });
    const { page } = console;
    await console.open("/setup", ADMIN_ROUTES);
    await page.getByRole("combobox", { name: "渠道" }).selectOption("feishu");
    await page.getByLabel("接收事件的方式").selectOption("socket");
    expect(await page.getByRole("option", { name: "长连接: 不需要公网地址" }).count()).toBe(1);
    await page.getByText("Enable the bot.").waitFor();
    await keepShot(page, "setup-channel-zh");
    expect(await findings(page)).toEqual([]);
  });

  it("changes nothing where the configuration cannot be edited", async () => {
    const { page } = console;
    await console.open("/setup", {
      ...ADMIN_ROUTES,
      "GET /api/setup": { editable: false, reason: "It is JSON5.", providers: [], channels: [] },
    });
    await page.getByText("It is JSON5.").waitFor();
    expect(await page.getByRole("combobox", { name: "Channel" }).isDisabled()).toBe(true);
  });
});
