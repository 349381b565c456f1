import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageAction } from "@signalbox/channel";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createApprovals,
  createEditTool,
  createLsTool,
  createReadTool,
  createWriteTool,
  openWorkspace,
  type Workspace,
} from "../src/index.ts";
import { createMessageTool } from "../src/message.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

describe("the agent's own notes", () => {
  let dir: string;
  let workspace: Workspace;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "notes-"));
    mkdirSync(join(dir, "memory"));
    mkdirSync(join(dir, "skills"));
    mkdirSync(join(dir, "docs"));
    for (const file of [
      "MEMORY.md",
      "SOUL.md",
      "AGENTS.md",
      "memory/a.md",
      "docs/AGENTS.md",
      "skills/s.md",
    ]) {
      writeFileSync(join(dir, file), "mine");
    }
    symlinkSync("SOUL.md", join(dir, "innocent.md"));
    symlinkSync(".", join(dir, "here"));
    workspace = await openWorkspace({ dir });
  });
  afterEach(() => rmSync(dir, { recursive: true, force: true }));
  const tools = () =>
    [createReadTool, createWriteTool, createEditTool, createLsTool].map((make) => make({ workspace }));
  const taint = [{ source: "quote" as const, detail: "a message by Li" }];

  test.each([
    "SOUL.md",
    "./SOUL.md",
    "soul.md",
    "docs/../SOUL.md",
    "innocent.md",
    "here/SOUL.md",
    "here/here/memory/new.md",
    "memory/a.md",
    "skills/evil/SKILL.md",
    ".agents/skills/x/SKILL.md",
    "HEARTBEAT.md",
  ])("a tainted run writes %s only with an approval that names the source", async (file_path) => {
    const approvals = createApprovals({ store: createTestApprovals() });
    const agent = caller(tools(), { facts: { role: "owner", taint }, approvals });
    expect(textOf(await agent.call("write", { file_path, content: "spoiled" }))).toContain(
      "quote `a message by Li`",
    );
    expect(await agent.call("edit", { file_path, old_string: "mine", new_string: "spoiled" })).toMatchObject({
      isError: true,
    });
    expect(agent.records.map((record) => record.rule)).toEqual([
      "taint_write_identity",
      "taint_write_identity",
    ]);
    const open = (await approvals.list()).find((each) => each.tool === "write");
    await approvals.resolve(open?.id ?? "", "allow", "owner");
    expect(textOf(await agent.call("write", { file_path, content: "spoiled" }))).toContain("Wrote");
  });

  test("other files, and untainted runs of owners, need no approval", async () => {
    const tainted = caller(tools(), { facts: { taint } });
    expect(textOf(await tainted.call("write", { file_path: "docs/AGENTS.md", content: "x" }))).toContain(
      "Wrote",
    );
    expect(
      textOf(
        await caller(tools(), { facts: { role: "owner" } }).call("write", {
          file_path: "SOUL.md",
          content: "x",
        }),
      ),
    ).toContain("Wrote");
  });

  test("a guest can read skills and documents, but not memories", async () => {
    const guest = caller(tools(), { facts: { role: "guest" } });
    expect(textOf(await guest.call("read", { file_path: "skills/s.md" }))).toBe("mine");
    expect(textOf(await guest.call("read", { file_path: "docs/AGENTS.md" }))).toBe("mine");
    for (const file_path of ["MEMORY.md", "memory/a.md"]) {
      expect(textOf(await guest.call("read", { file_path }))).toContain("A guest may not");
    }
    for (const file_path of ["innocent.md", "here/memory/../MEMORY.md"]) {
      expect(textOf(await guest.call("read", { file_path }))).toBe(`There is no ${file_path} here.`);
    }
    expect(await guest.call("ls", { path: "memory" })).toMatchObject({ isError: true });
    expect(await guest.call("write", { file_path: "x", content: "" })).toMatchObject({ isError: true });
  });
});

describe("message", () => {
  let sent: MessageAction[];
  const make = (actions?: ("send" | "poll" | "react" | "edit" | "delete")[]) =>
    createMessageTool({
      ...(actions === undefined ? {} : { actions }),
      isCurrent: ({ target }) => target === "oc_here",
      send: async (action, { sessionKey, callId }) => {
        sent.push(action);
        if (action.action === "delete") return { ok: false, message: "The message is too old." };
        return { ok: true, text: `Done for ${sessionKey} (${callId})`, details: { messageId: "om_9" } };
      },
    });
  beforeEach(() => {
    sent = [];
  });

  test("sends to the current conversation and returns the host's outcome", async () => {
    const agent = caller([make()]);
    expect(await agent.call("message", { action: "send", message: "hi", media: ["a.png"] })).toEqual({
      content: [{ type: "text", text: "Done for agent:coder:feishu:direct:ou_1 (call_1)" }],
      details: { messageId: "om_9" },
    });
    expect(sent).toEqual([{ action: "send", text: "hi", media: ["a.png"] }]);
  });

  test("offers the actions of the host, and reports missing arguments", async () => {
    expect(await caller([make()]).call("message", { action: "react" })).toMatchObject({ isError: true });
    const agent = caller([make(["send", "poll", "react", "edit", "delete"])]);
    expect(textOf(await agent.call("message", { action: "send" }))).toContain("needs `message` or `media`");
    expect(textOf(await agent.call("message", { action: "react", emoji: "👍" }))).toContain(
      "needs `message_id`",
    );
    expect(textOf(await agent.call("message", { action: "edit", message_id: "m" }))).toContain(
      "needs `message`",
    );
    expect(await agent.call("message", { action: "delete", message_id: "m" })).toMatchObject({
      isError: true,
      content: [{ text: "The message is too old." }],
    });
    await agent.call("message", { action: "react", message_id: "m", emoji: "👍" });
    expect(textOf(await agent.call("message", { action: "poll", message: "Where to?" }))).toContain(
      "needs `message` and `options`",
    );
    await agent.call("message", { action: "poll", message: "Where to?", options: ["Rome", "Oslo"] });
    expect(sent.map((action) => action.action)).toEqual(["delete", "react", "poll"]);
  });

  test("to another conversation needs approval in tainted runs and for members", async () => {
    const elsewhere = { action: "send", message: "hi", target: "oc_there", channel: "slack" };
    const here = { ...elsewhere, target: "oc_here" };
    const tainted = caller([make()], { facts: { role: "owner", taint: [{ source: "web" }] } });
    expect(textOf(await tainted.call("message", elsewhere))).toContain(
      "write to another conversation (`slack oc_there`)",
    );
    expect(await tainted.call("message", here)).not.toHaveProperty("isError");
    expect(await caller([make()]).call("message", elsewhere)).toMatchObject({ isError: true });
    expect(
      await caller([make()], { facts: { role: "owner" } }).call("message", elsewhere),
    ).not.toHaveProperty("isError");
    expect(sent).toHaveLength(2);
  });
});
