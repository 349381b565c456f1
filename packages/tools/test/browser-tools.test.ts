import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject, ToolResult } from "@signalbox/agent-core";
import { expect, it, onTestFinished } from "vitest";
import { createBrowserTools } from "../src/browser/browser-tools.ts";
import {
  type AgentBrowser,
  createApprovals,
  createMemoryLabelStore,
  createReadTool,
  openFileLabels,
  openWorkspace,
  type RunFacts,
} from "../src/index.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

const TAINTED: Partial<RunFacts> = { role: "owner", taint: [{ source: "web", detail: "browser_navigate" }] };
const OWNER: Partial<RunFacts> = { role: "owner" };
const PIXEL = "R0lGODlhAQABAIAAAAUEBAAAACwAAAAAAQABAAACAkQBADs=";

interface Page {
  url: string;
  elements: string;
}

/** A browser that shows one page, and records the calls that change it. */
async function openBrowser(page: Page = { url: "https://shop.example/cart", elements: SHOP }) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "browser-tools-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const calls: (readonly [string, JsonObject])[] = [];
  const files = new Map([["bill.pdf", Buffer.from("%PDF")]]);
  const answer = (text: string): ToolResult => ({ content: [{ type: "text", text }], details: null });
  const browser: AgentBrowser = {
    async call(tool, args) {
      if (tool === "browser_snapshot")
        return answer(
          `### Page\n- Page URL: ${page.url}\n### Snapshot\n\`\`\`yaml\n${page.elements}\n\`\`\``,
        );
      calls.push([tool, args]);
      if (tool !== "browser_take_screenshot") return answer("### Result\ndone");
      const source = { kind: "base64" as const, data: PIXEL };
      return { content: [{ type: "image", mimeType: "image/gif", source }], details: null };
    },
    listDownloads: async () => [...files].map(([name, { byteLength: bytes }]) => ({ name, bytes })),
    async readDownload(name) {
      const found = files.get(name);
      if (found === undefined) throw new Error(`There is no download ${name}.`);
      return found;
    },
  };
  const labels = await openFileLabels(createMemoryLabelStore());
  const workspace = await openWorkspace({ dir, labels });
  const approvals = createApprovals({ store: createTestApprovals() });
  const tools = [...createBrowserTools({ browser, workspace }), createReadTool({ workspace })];
  const open = (facts: Partial<RunFacts>) => caller(tools, { facts, approvals });
  return { dir, calls, files, page, approvals, open };
}

const SHOP = [
  '- button "Pay 500 EUR" [ref=e5]',
  '- link "Terms" [ref=e6]:',
  "  - /url: /terms",
  "- textbox [ref=e7]",
].join("\n");

it("lets an untainted owner click, and taints the run with the result", async () => {
  const { open, calls } = await openBrowser();
  const agent = open(OWNER);
  expect(textOf(await agent.call("browser_click", { ref: "e5" }))).toContain('button "Pay 500 EUR"');
  expect(calls).toEqual([["browser_click", { target: "e5" }]]);
  expect(agent.state.facts.taint).toEqual([{ source: "web", detail: "browser_click" }]);
});

it.each([
  ["browser_click", { ref: "e5" }, 'click\nelement: button "Pay 500 EUR"\npage: https://shop.example/cart'],
  [
    "browser_click",
    { ref: "e6" },
    'click\nelement: link "Terms"\nlink: /terms\npage: https://shop.example/cart',
  ],
  [
    "browser_type",
    { ref: "e7", text: "4111 1111", submit: true },
    'type and press Enter: "4111 1111"\nelement: textbox\npage: https://shop.example/cart',
  ],
  ["browser_press_key", { key: "Enter" }, 'press "Enter"\npage: https://shop.example/cart'],
  ["browser_dialog", { accept: true }, "accept the dialog\npage: https://shop.example/cart"],
  ["browser_navigate", { url: "https://evil.example/?note=1" }, "GET https://evil.example/?note=1"],
])("asks before %s %j in a tainted run, and shows what it does and where", async (tool, args, action) => {
  const { open, calls, approvals } = await openBrowser();
  const agent = open(TAINTED);
  expect(textOf(await agent.call(tool, args))).toContain("needs approval");
  expect(calls).toEqual([]);
  const [approval] = await approvals.list();
  expect(approval?.subject.action).toBe(action);
  await approvals.resolve(approval?.id ?? "", "allow", "anna");
  expect((await agent.call(tool, args)).isError).not.toBe(true);
  expect(calls).toHaveLength(1);
});

it("asks again if the page or the element is another one than a person approved", async () => {
  const { open, calls, approvals, page } = await openBrowser();
  const agent = open(TAINTED);
  await agent.call("browser_click", { ref: "e5" });
  const [approval] = await approvals.list();
  await approvals.resolve(approval?.id ?? "", "allow", "anna");
  page.elements = '- button "Delete account" [ref=e5]';
  expect(textOf(await agent.call("browser_click", { ref: "e5" }))).toContain("needs approval");
  page.elements = SHOP;
  page.url = "https://evil.example/cart";
  expect(textOf(await agent.call("browser_click", { ref: "e5" }))).toContain("needs approval");
  expect(calls).toEqual([]);
});

it("refuses guests, and asks an owner for a member", async () => {
  const { open, calls } = await openBrowser();
  expect(textOf(await open({ role: "guest" }).call("browser_click", { ref: "e5" }))).toContain("Not allowed");
  expect(textOf(await open({ role: "member" }).call("browser_click", { ref: "e5" }))).toContain(
    "needs approval",
  );
  expect(calls).toEqual([]);
});

it("opens links of a page that the run has read without approval", async () => {
  const { open } = await openBrowser();
  const agent = open(OWNER);
  await agent.call("browser_snapshot", {});
  expect((await agent.call("browser_navigate", { url: "https://shop.example/terms" })).isError).not.toBe(
    true,
  );
  expect(textOf(await agent.call("browser_navigate", { url: "https://shop.example/?secret=1" }))).toContain(
    "needs approval",
  );
});

it.each([
  ["browser_navigate", { url: "file:///etc/passwd" }],
  ["browser_navigate", { url: "chrome://settings" }],
  ["browser_navigate", { url: "javascript:alert(1)" }],
  ["browser_navigate", { url: "view-source:https://example.org" }],
  ["browser_click", { ref: "e99" }],
  ["browser_click", { ref: "button >> nth=0" }],
  ["browser_type", { ref: "css=input", text: "x" }],
  ["browser_press_key", { key: "Enter\nEnter" }],
  ["browser_evaluate", { function: "() => 1" }],
  ["browser_file_upload", { paths: ["/etc/passwd"] }],
])("refuses %s %j", async (tool, args) => {
  const { open, calls } = await openBrowser();
  expect((await open(OWNER).call(tool, args)).isError).toBe(true);
  expect(calls).toEqual([]);
});

it("shows a screenshot to the model as an image", async () => {
  const { open } = await openBrowser();
  const result = await open(OWNER).call("browser_screenshot", {});
  expect(result.content).toMatchObject([{ type: "image", mimeType: "image/gif" }]);
});

it("returns a long page in parts", async () => {
  const elements = Array.from({ length: 2_000 }, (_, index) => `- button "${index}" [ref=e${index}]`).join(
    "\n",
  );
  const { open } = await openBrowser({ url: "https://long.example/", elements });
  const agent = open(OWNER);
  const first = textOf(await agent.call("browser_snapshot", {}));
  const offset = Number(/offset=(\d+)\]/.exec(first)?.[1]);
  expect(textOf(await agent.call("browser_snapshot", { offset }))).toContain(
    elements.slice(offset, offset + 40),
  );
});

it("saves a download only after approval, only as it was approved, and marked as untrusted", async () => {
  const { open, dir, files, approvals } = await openBrowser();
  const agent = open(OWNER);
  const save = { name: "bill.pdf", file_path: "bills/may.pdf" };
  expect(textOf(await agent.call("browser_downloads", {}))).toBe("bill.pdf (4 bytes)");
  const approve = async () => {
    expect(textOf(await agent.call("browser_save_download", save))).toContain("needs approval");
    const [approval] = await approvals.list({ states: ["pending"] });
    await approvals.resolve(approval?.id ?? "", "allow", "anna");
    return approval;
  };
  const approval = await approve();
  expect(approval?.subject.action).toBe('save the download "bill.pdf" (4 bytes) as "bills/may.pdf"');
  files.set("bill.pdf", Buffer.from("#!/bin/sh"));
  await approve();
  expect(textOf(await agent.call("browser_save_download", save))).toBe("Saved bills/may.pdf (9 bytes).");
  expect(readFileSync(join(dir, "bills", "may.pdf"), "utf8")).toBe("#!/bin/sh");
  const other = open(OWNER);
  await other.call("read", { file_path: "bills/may.pdf" });
  expect(other.state.facts.taint).toMatchObject([{ source: "web" }]);
});

it("saves no download outside the workspace", async () => {
  const { open, approvals } = await openBrowser();
  const agent = open(OWNER);
  const save = { name: "bill.pdf", file_path: "../bill.pdf" };
  await agent.call("browser_save_download", save);
  const [approval] = await approvals.list();
  await approvals.resolve(approval?.id ?? "", "allow", "anna");
  expect((await agent.call("browser_save_download", save)).isError).toBe(true);
});
