import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { SkillUpload } from "@signalbox/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { missing, ownersConsole } from "../console.ts";
import { ADMIN_ROUTES } from "../data/admin.ts";
import { Refusal } from "../routes.ts";

describe.skipIf(missing !== undefined)("agents in Chromium", () => {
  const console = ownersConsole();

  it("shows the tools, skills, prompt and files of an agent, and saves a file", async () => {
    const { page, gateway } = console;
    const saved = { path: "AGENTS.md", text: "Be brief.\n", revision: "r2" };
    await console.open("/agents", { ...ADMIN_ROUTES, "POST /api/agents/*/file": saved });
    await page.getByRole("link", { name: "代码助手" }).click();
    const row = page.getByRole("row").filter({ hasText: "exec" });
    await row.getByText("not available").waitFor();
    await row.getByText("A list denies it.").waitFor();
    await page.getByRole("tab", { name: "Prompt" }).click();
    await page.getByText("Total: 1,010").waitFor();
    const text = page.getByText("You are careful.");
    expect(await text.isVisible()).toBe(false);
    await page.getByText("identity (1,000 tokens)").click();
    await text.waitFor();
    await page.getByRole("tab", { name: "Skills" }).click();
    await page.getByText("It is new.").waitFor();
    await page.getByRole("tab", { name: "Files" }).click();
    await page.getByRole("link", { name: "AGENTS.md" }).click();
    const content = page.getByLabel("Content");
    await expect.poll(() => content.inputValue()).toBe("Be brief.\n");
    await content.fill("Be kind.\n");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The file has been saved.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/agents/coder/file", body: { path: "AGENTS.md", text: "Be kind.\n", revision: "r1" } },
    ]);
  });

  it("tries a model and reports the vendor's error", async () => {
    const { page } = console;
    await console.open("/models", {
      ...ADMIN_ROUTES,
      "POST /api/models/try": { ok: false, detail: "the key is wrong", remedy: "Fix it.", durationMs: 3 },
    });
    await page
      .getByRole("row")
      .filter({ hasText: "claude-haiku" })
      .getByRole("button", { name: "Try" })
      .click();
    await page.getByText("the key is wrong Fix it.").waitFor();
  });

  it("searches the memory and forgets an entry after a confirmation", async () => {
    const { page, gateway } = console;
    await console.open("/memory", { ...ADMIN_ROUTES, "POST /api/memory/*/forget": { ids: ["MEMORY.md:3"] } });
    await page.getByRole("searchbox", { name: "Search the memory" }).fill("wasabi");
    const entry = page.getByRole("article").filter({ hasText: "Wasabi" });
    await entry.getByText("visible to owners").waitFor();
    await entry.getByText("memory/MEMORY.md:3").waitFor();
    await entry.getByRole("button", { name: "Forget" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
    await page.getByText("One entry has been forgotten.").waitFor();
    expect(gateway.changes).toEqual([{ path: "/api/memory/coder/forget", body: { ids: ["MEMORY.md:3"] } }]);
  });

  it("lists the notes of an agent in pages, and adds one", async () => {
    const { page, gateway } = console;
    const notes = Array.from({ length: 60 }, (_, index) => ({
      id: `MEMORY.md:${index + 1}`,
      source: "note",
      text: `Note ${index + 1}.`,
      at: 1_700_000_000_000,
      scope: "person",
      scopeId: "owners",
      author: "Ann",
      path: "memory/MEMORY.md",
      lines: [index + 1, index + 1],
    }));
    await console.open("/memory", {
      ...ADMIN_ROUTES,
      "GET /api/memory/*": ({ url: { searchParams } }: { url: URL }) => {
        const offset = Number(searchParams.get("offset"));
        const entries = notes.slice(offset, offset + Number(searchParams.get("limit")));
        return { summary: "", notes: notes.length, turns: 1, entries };
      },
      "POST /api/memory/*/add": { id: "MEMORY.md:61", isNew: true },
    });
    await page.getByText("60 notes, newest first. 1 message can be searched.").waitFor();
    await page
      .getByRole("article")
      .filter({ hasText: "Note 50." })
      .getByText("Ann · memory/MEMORY.md:50")
      .waitFor();
    expect(await page.getByRole("article").count()).toBe(50);
    await page.getByRole("button", { name: "Load more" }).click();
    await page.getByText("Note 60.").waitFor();
    expect(await page.getByRole("button", { name: "Load more" }).count()).toBe(0);
    await page.getByRole("button", { name: "Add a note" }).click();
    const dialog = page.getByRole("dialog", { name: "Add a note" });
    await dialog.getByText("The agent reads the note in private chats with owners.").waitFor();
    await dialog.getByRole("textbox", { name: "Text" }).fill(" The gate is blue. ");
    await dialog.getByLabel("Keep it").selectOption("daily");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The note has been added.").waitFor();
    await dialog.waitFor({ state: "hidden" });
    const body = { text: "The gate is blue.", kind: "daily" };
    expect(gateway.changes).toEqual([{ path: "/api/memory/coder/add", body }]);
  });

  it("edits a note but not a message, and keeps the text in the dialog if the note has changed", async () => {
    const { page, gateway } = console;
    let isChanged = true;
    await console.open("/memory", {
      ...ADMIN_ROUTES,
      "POST /api/memory/*/edit": () => {
        if (isChanged) throw new Refusal(409, "conflict", "The entry has been changed.");
      },
    });
    await page.getByRole("searchbox", { name: "Search the memory" }).fill("wasabi");
    const message = page.getByRole("article").filter({ hasText: "A message cannot be edited." });
    await message.getByRole("button", { name: "Forget" }).waitFor();
    expect(await message.getByRole("button", { name: "Edit" }).count()).toBe(0);
    await page
      .getByRole("article")
      .filter({ hasText: "Wasabi" })
      .getByRole("button", { name: "Edit" })
      .click();
    const dialog = page.getByRole("dialog");
    const text = dialog.getByRole("textbox", { name: "Text" });
    const before = await text.inputValue();
    await text.fill("The cat is called Miso.");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("The entry has been changed.").waitFor();
    expect(await text.inputValue()).toBe("The cat is called Miso.");
    isChanged = false;
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "hidden" });
    const body = { id: "MEMORY.md:3", before, text: "The cat is called Miso." };
    expect(gateway.changes.at(-1)).toEqual({ path: "/api/memory/coder/edit", body });
  });

  it("approves exactly the version of a skill that it shows", async () => {
    const { page, gateway } = console;
    await console.open("/skills", { ...ADMIN_ROUTES, "POST /api/skills/approve": () => undefined });
    await page.getByText("+Tidy up.").waitFor();
    const skills = page.getByRole("table", { name: "Skills of coder" });
    await skills.getByText("signalbox skills install github").waitFor();
    await page.getByRole("button", { name: "Approve this version" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Approve this version" }).click();
    await page.getByText("The skill tidy has been approved.").waitFor();
    expect(gateway.changes).toEqual([{ path: "/api/skills/approve", body: { id: "tidy", digest: "d1" } }]);
  });

  it("adds a folder without its hidden files or a ZIP file as a skill, and refuses one that is too large", async () => {
    const { page, gateway } = console;
    const base = mkdtempSync(join(tmpdir(), "skills-"));
    onTestFinished(() => rmSync(base, { recursive: true }));
    const folder = join(base, "standup");
    const write = (path: string, content: string | Uint8Array) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    };
    write("SKILL.md", "Write it up.\n");
    write("scripts/run.bin", Uint8Array.of(0, 255));
    write(".git/config", "x");
    await console.open("/skills", {
      ...ADMIN_ROUTES,
      "POST /api/skills": { id: "standup", dir: "/w/skills/standup", digest: "d2" },
    });
    await page.getByRole("region", { name: "Add a skill" }).getByLabel("Agent").selectOption("support#2");
    const picker = page.locator('input[type="file"][multiple]');
    await picker.setInputFiles(folder);
    await page.getByText("The skill standup has been added and waits for your approval.").waitFor();
    const body = gateway.changes[0]?.body as SkillUpload;
    expect({ ...body, files: body.files?.toSorted((a, b) => (a.path < b.path ? -1 : 1)) }).toEqual({
      agent: "support#2",
      name: "standup",
      files: [
        { path: "SKILL.md", data: Buffer.from("Write it up.\n").toString("base64") },
        { path: "scripts/run.bin", data: "AP8=" },
      ],
    });
    const zip = page.locator('input[type="file"][accept]');
    await zip.setInputFiles({ name: "standup.zip", mimeType: "application/zip", buffer: Buffer.from("PK") });
    await expect
      .poll(() => gateway.changes[1]?.body)
      .toEqual({
        agent: "support#2",
        name: "standup",
        zip: Buffer.from("PK").toString("base64"),
      });
    write("model.bin", new Uint8Array(600_001));
    await picker.setInputFiles(folder);
    await page.getByText("more than 100 files or 600 kB").waitFor();
    expect(gateway.changes).toHaveLength(2);
  });

  it("shows the tools of MCP servers, accepts changed descriptions, and starts a sign-in", async () => {
    const { page, gateway } = console;
    await console.open("/mcp", {
      ...ADMIN_ROUTES,
      "POST /api/mcp/*/accept": () => undefined,
      "POST /api/mcp/*/login": {
        ok: false,
        code: "foreign_issuer",
        message: "x",
        issuer: "https://login.example",
      },
    });
    const files = page.getByRole("region", { name: "files" });
    await files.getByRole("button", { name: "Accept these descriptions" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Accept these descriptions" }).click();
    await page.getByText("The descriptions have been accepted.").waitFor();
    const tickets = page.getByRole("region", { name: "tickets" });
    await tickets.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("dialog", { name: "Sign in at https://login.example?" }).waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/mcp/files/accept", body: { changes: "c1" } },
      { path: "/api/mcp/tickets/login", body: {} },
    ]);
  });
});
