import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findings } from "./axe.ts";
import { chatPage, missing } from "./chat-page.ts";

describe.skipIf(missing !== undefined)("conversations and their messages, in Chromium", () => {
  const chat = chatPage();

  it("restores conversations after a reload", async () => {
    chat.gateway.conversations = [
      { id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_700_000_000_000 },
    ];
    chat.gateway.messages.set("old", [
      { id: "m1", role: "user", text: "What is there?", at: 1 },
      {
        id: "m2",
        role: "tool",
        text: "a.txt",
        at: 2,
        runId: "r0",
        call: { id: "t1", name: "ls", args: {}, isError: false, durationMs: 3 },
      },
      { id: "m3", role: "assistant", text: "Only **a.txt**.", at: 3, runId: "r0" },
    ]);
    await chat.signIn();
    await chat.page.getByRole("link", { name: "旧的对话" }).click();
    await chat.log().getByText("Only a.txt.").waitFor();
    expect(await chat.page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("writer");
    await chat.page.reload();
    await chat.log().getByText("Only a.txt.").waitFor();
    const asked = () =>
      chat.gateway.received.filter((frame) => frame.type === "subscribe" && frame.conversation === "old");
    await expect
      .poll(asked)
      .toEqual(Array(2).fill({ type: "subscribe", conversation: "old", agent: "writer" }));
    await chat.page.getByRole("button", { name: "New conversation" }).click();
    await chat.log().getByText("How can I help?").waitFor();
    await chat.page.getByRole("combobox", { name: "Agent" }).selectOption("coder");
    await chat.log().getByRole("button", { name: "list files" }).click();
    await chat.received("send");
    expect(chat.gateway.received.at(-1)).toMatchObject({ type: "send", agent: "coder", text: "list files" });
    await chat.page.getByRole("link", { name: "list files" }).waitFor();
    await chat.page.goBack();
    await chat.page.goBack();
    await chat.log().getByText("Only a.txt.").waitFor();
  });

  it("searches, renames and deletes conversations", async () => {
    chat.gateway.conversations = [
      { id: "tea", agent: "writer", title: "About tea", updatedAt: 1_700_000_000_000 },
      { id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_600_000_000_000 },
    ];
    for (const { id } of chat.gateway.conversations) chat.gateway.messages.set(id, []);
    await chat.signIn("/#/c/tea");
    const list = chat.page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "About tea" }).waitFor();
    await chat.page.getByRole("searchbox", { name: "Search conversations" }).fill("旧");
    await list.getByRole("link", { name: "About tea" }).waitFor({ state: "detached" });
    expect(await list.getByRole("link", { name: "旧的对话" }).count()).toBe(1);
    await chat.page.getByRole("searchbox", { name: "Search conversations" }).fill("");

    await chat.page.getByRole("button", { name: "Conversation actions" }).click();
    await chat.page.getByRole("menuitem", { name: "Rename" }).click();
    await chat.page.getByLabel("Title").fill("About coffee");
    await chat.page.getByLabel("Title").press("Enter");
    await list.getByRole("link", { name: "About coffee" }).waitFor();
    await chat.page.getByRole("button", { name: "Conversation actions" }).click();
    await chat.page.getByRole("menuitem", { name: "Delete" }).click();
    const dialog = chat.page.getByRole("dialog", { name: "Delete this conversation?" });
    await dialog.getByText("Its messages and its schedules").waitFor();
    expect(chat.gateway.changes).toHaveLength(1);
    await dialog.getByRole("button", { name: "Delete" }).click();
    await list.getByRole("link", { name: "About coffee" }).waitFor({ state: "detached" });
    await chat.log().getByText("How can I help?").waitFor();
    expect(chat.gateway.changes).toEqual([
      { path: "/api/conversations/tea/rename", body: { title: "About coffee" } },
      { path: "/api/conversations/tea/remove", body: {} },
    ]);
  });

  it("sends with Enter, inserts a line break with Shift+Enter, and ignores the Enter of an input method", async () => {
    await chat.signIn();
    await chat.message().pressSequentially("one");
    await chat.message().press("Shift+Enter");
    await chat.message().pressSequentially("two");
    await chat.message().dispatchEvent("keydown", { key: "Enter", isComposing: true });
    expect(await chat.message().inputValue()).toBe("one\ntwo");
    await chat.message().press("Enter");
    await chat.received("send");
    expect(chat.gateway.received.at(-1)).toMatchObject({ text: "one\ntwo" });
    expect(await chat.message().inputValue()).toBe("");
    expect(await chat.message().evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it("sends files that were chosen, dropped or pasted", async () => {
    await chat.signIn();
    const send = chat.page.getByRole("button", { name: "Send", exact: true });
    const picture = await readFile(join(import.meta.dirname, "../../../docs/console.png"));
    await chat.page.locator('input[type="file"]').setInputFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.alloc(1_200_000, "a") },
      { name: "chat.page.png", mimeType: "image/png", buffer: picture },
    ]);
    const chosen = chat.page.getByRole("list", { name: "Files for this message" });
    await chosen.getByText("1.2 MB").waitFor();
    await chosen.locator("img").waitFor();
    expect([...chat.gateway.uploads.values()]).toContain(1_200_000);
    const give = (event: "paste" | "drop") =>
      chat.message().evaluate((field, type) => {
        const data = new DataTransfer();
        data.items.add(new File(["b"], `${type}.csv`, { type: "text/csv" }));
        const init = { bubbles: true, cancelable: true };
        field.dispatchEvent(
          type === "paste"
            ? new ClipboardEvent(type, { ...init, clipboardData: data })
            : new DragEvent(type, { ...init, dataTransfer: data }),
        );
      }, event);
    await give("paste");
    await give("drop");
    await chosen.getByText("drop.csv").waitFor();
    await chosen.getByRole("button", { name: "Remove paste.csv" }).press("Enter");
    chat.gateway.refusesUploads = true;
    await give("paste");
    await chosen.getByRole("alert").getByText("larger than the gateway takes").waitFor();
    expect(await send.isEnabled()).toBe(false);
    await chosen.getByRole("button", { name: "Remove paste.csv" }).click();
    await chat.shot("files-chosen");
    expect(await findings(chat.page)).toEqual([]);
    // A message may consist of files only.
    await send.click();
    await chat.received("send");
    expect(chat.gateway.received.at(-1)).toMatchObject({
      text: "",
      attachments: [
        { name: "notes.txt", mimeType: "text/plain", bytes: 1_200_000 },
        { name: "chat.page.png", mimeType: "image/png" },
        { name: "drop.csv", mimeType: "text/csv" },
      ],
    });
    const sent = chat.log().getByRole("list", { name: "Files" });
    await sent.getByText("notes.txt").waitFor();
    expect(await sent.locator("img").count()).toBe(1);
    await chat.shot("files-sent");
    await chat.page.reload();
    await sent.getByText("notes.txt").waitFor();
  });

  it("keeps chosen files while another conversation is open, and limits their number", async () => {
    await chat.signIn();
    const chosen = chat.page.getByRole("list", { name: "Files for this message" });
    const files = Array.from({ length: 21 }, (_, at) => ({
      name: `${at}.txt`,
      mimeType: "text/plain",
      buffer: Buffer.from("notes"),
    }));
    await chat.page.locator('input[type="file"]').setInputFiles(files);
    await chat.page.getByRole("alert").getByText("A message can have at most 20 files.").waitFor();
    await chat.page.getByRole("button", { name: "New conversation" }).click();
    await chosen.waitFor({ state: "detached" });
    await chat.page.goBack();
    await chosen.getByText("20.txt").waitFor();
    const send = chat.page.getByRole("button", { name: "Send", exact: true });
    await expect.poll(() => chosen.getByText("1 kB").count()).toBe(21);
    expect(await send.isEnabled()).toBe(false);
    await chosen.getByRole("button", { name: "Remove 20.txt" }).click();
    await chat.page.getByRole("alert").waitFor({ state: "detached" });
    await send.click();
    await chat.received("send");
    expect(chat.gateway.received.at(-1)).toMatchObject({ attachments: { length: 20 } });
  });

  it("resends the files of a refused message", async () => {
    await chat.signIn();
    const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") };
    await chat.page.locator('input[type="file"]').setInputFiles([file]);
    await chat.page.getByRole("list", { name: "Files for this message" }).getByText("1 kB").waitFor();
    chat.gateway.refuse = () => ({ code: "full", message: "Too much is waiting." });
    await chat.send("here they are");
    await chat.log().getByRole("alert").waitFor();
    chat.gateway.refuse = () => undefined;
    await chat.log().getByRole("button", { name: "Send again" }).click();
    await chat.log().getByRole("alert").waitFor({ state: "detached" });
    await expect
      .poll(() => chat.gateway.received.filter(({ type }) => type === "send"))
      .toMatchObject([
        { text: "here they are", attachments: [{ name: "notes.txt" }] },
        { text: "here they are", attachments: [{ name: "notes.txt" }] },
      ]);
    await chat.log().getByRole("list", { name: "Files" }).getByText("notes.txt").waitFor();
  });

  it("shows a lost connection and sends waiting messages after a reconnect", async () => {
    await chat.useOwnContext();
    await chat.page.clock.install();
    await chat.signIn();
    await chat.send("first");
    await chat.received("send");
    chat.gateway.down = true;
    chat.gateway.cut();
    const status = chat.page.locator("[data-connection]");
    await status.getByText("Not connected.").waitFor();
    // The clock is paused, so that the page does not reconnect before the click.
    await chat.page.clock.pauseAt(Date.now() + 60_000);
    await chat.send("second");
    await chat.log().getByText("Sending…").waitFor();
    await chat.shot("reconnecting");
    chat.gateway.down = false;
    await chat.page.getByRole("button", { name: "Reconnect now" }).click();
    await chat.page.clock.resume();
    await chat.log().getByText("Sending…").waitFor({ state: "detached" });
    await expect.poll(() => status.textContent()).toBe("");
    const texts = chat.gateway.messages.get(chat.current().conversation)?.map(({ text }) => text);
    expect(texts).toEqual(["first", "second"]);
    expect(await chat.log().getByRole("article").count()).toBe(2);
  });
});
