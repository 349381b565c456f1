import { describe, expect, it } from "vitest";
import { missing, ownersConsole } from "../console.ts";
import { CONFIGURATION } from "../data/admin.ts";

describe.skipIf(missing !== undefined)("people in Chromium", () => {
  const console = ownersConsole();

  it("approves a person by code and removes a person after a confirmation", async () => {
    const { page, gateway } = console;
    await console.open("/people");
    await page.getByText("One person is waiting for you.").waitFor();
    const code = page.getByLabel("Pairing code");
    await code.fill("BADCODE");
    await code.press("Enter");
    await page.getByRole("alert").getByText("No pending request has this code.").waitFor();
    await code.fill("GOODCODE");
    await code.press("Enter");
    await page.getByText("No one is waiting").waitFor();
    await page.getByRole("status").getByText("can now write to the agents.").waitFor();
    expect(await code.inputValue()).toBe("");
    await page.getByRole("row").filter({ hasText: "张三" }).getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove 张三?" });
    expect(gateway.changes).toHaveLength(2);
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("row").filter({ hasText: "张三" }).waitFor({ state: "detached" });
    expect(gateway.changes.at(-1)).toEqual({
      path: "/api/pairings/revoke",
      body: { channel: "feishu", account: "main", peer: "ou_zhang" },
    });
  });

  it("lists the owners and makes the person behind a code an owner", async () => {
    const { page, gateway } = console;
    await console.open("/people", {
      "GET /api/configuration": {
        ...CONFIGURATION,
        revision: "r7",
        values: { access: { owners: ["telegram:5001"] } },
      },
      "POST /api/configuration": {
        revision: "r8",
        applied: ["access"],
        forStart: [],
        kept: [],
        accounts: [],
        problems: [],
      },
    });
    await page.getByRole("table", { name: "Owners" }).getByText("telegram:5001").waitFor();
    await page.getByRole("table", { name: "Allowed by the configuration" }).waitFor();
    await page.getByLabel("Pairing code").fill("GOODCODE");
    await page.getByLabel("Make this person an owner").check();
    await page.getByLabel("Pairing code").press("Enter");
    await page.getByText("is now an owner.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/pairings/approve", body: { code: "GOODCODE" } },
      {
        path: "/api/configuration",
        body: { revision: "r7", edits: [{ path: ["access", "owners", 1], value: "telegram:77" }] },
      },
    ]);
  });
});
