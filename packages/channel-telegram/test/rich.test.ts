import type { OutboundPart } from "@signalbox/channel";
import { messageObject, textMessage, update } from "@signalbox/testkit/telegram";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Bench, never, openBench } from "./harness.ts";

const to = { chatId: "5001" };
const options = { idempotencyKey: "k", signal: never };
const table = "| City | Degrees |\n| --- | ---: |\n| **Oslo** | 7 |";

const send = async ({ channel }: Bench, text: string) =>
  channel.send(to, { parts: [{ type: "markdown", text }] }, options);
const called = ({ fakeServer }: Bench) =>
  fakeServer.requests
    .map(({ path }) => path.split("/").at(-1) ?? "")
    .filter((method) => /^(?:send|edit)/.test(method));

describe("sending rich messages", () => {
  it("happens only if the account enables them", async () => {
    await using bench = await openBench();
    await send(bench, table);
    expect(called(bench)).toEqual(["sendMessage"]);
  });

  it("covers what entities cannot express: tables, headings, nested lists, formulas", async () => {
    await using bench = await openBench({ richMessages: true });
    await send(bench, table);
    await send(bench, "## Today\n\n1. one\n2. two\n   - [x] deep [docs](https://e.org)");
    await send(bench, "It is $x^2$:\n\n$$y = x$$\n\n> **so**\n\n---");
    const cell = { valign: "top" };
    const head = { ...cell, is_header: true };
    expect(bench.fakeServer.sent.map(({ rich }) => rich)).toEqual([
      [
        {
          type: "table",
          is_bordered: true,
          cells: [
            [
              { ...head, text: "City", align: "left" },
              { ...head, text: "Degrees", align: "right" },
            ],
            [
              { ...cell, text: { type: "bold", text: "Oslo" }, align: "left" },
              { ...cell, text: "7", align: "right" },
            ],
          ],
        },
      ],
      [
        { type: "heading", size: 2, text: "Today" },
        {
          type: "list",
          items: [
            { value: 1, type: "1", blocks: [{ type: "paragraph", text: "one" }] },
            {
              value: 2,
              type: "1",
              blocks: [
                { type: "paragraph", text: "two" },
                {
                  type: "list",
                  items: [
                    {
                      has_checkbox: true,
                      is_checked: true,
                      blocks: [
                        {
                          type: "paragraph",
                          text: ["deep ", { type: "url", text: "docs", url: "https://e.org" }],
                        },
                      ],
                    },
                  ],
                },
              ],
            },
          ],
        },
      ],
      [
        {
          type: "paragraph",
          text: ["It is ", { type: "mathematical_expression", expression: "x^2" }, ":"],
        },
        { type: "mathematical_expression", expression: "y = x" },
        { type: "blockquote", blocks: [{ type: "paragraph", text: { type: "bold", text: "so" } }] },
        { type: "divider" },
      ],
    ]);
  });

  it("is skipped if entities suffice or a limit of rich messages is exceeded", async () => {
    await using bench = await openBench({ richMessages: true });
    const row = (cell: string, columns: number) => `|${` ${cell} |`.repeat(columns)}`;
    const tableOf = (columns: number) => [row("a", columns), row("-", columns), row("b", columns)].join("\n");
    const nested = (depth: number) =>
      Array.from({ length: depth }, (_, level) => `${"  ".repeat(level)}- a`).join("\n");
    const beyond = [tableOf(21), nested(9), `# a\n\n${"- b\n".repeat(400)}`, "# \n\nan empty heading"];
    for (const text of ["**bold** and `code`\n\n- a list", "$5 and $10", ...beyond]) await send(bench, text);
    for (const text of [tableOf(20), nested(4), `# a\n\n${"- b\n".repeat(200)}`]) await send(bench, text);
    const as = (method: string, times: number) => Array.from({ length: times }, () => method);
    expect(called(bench)).toEqual([...as("sendMessage", 6), ...as("sendRichMessage", 3)]);
  });

  it.each([
    { refusal: "invalid blocks", fault: { kind: "refuse", description: "Bad Request: RICH_BLOCK_INVALID" } },
    {
      refusal: "method unknown to an older server",
      fault: { kind: "refuse", status: 404, description: "Not Found" },
    },
  ] as const)("falls back to text if Telegram rejects the message ($refusal)", async ({ fault }) => {
    await using bench = await openBench({ richMessages: true });
    bench.fakeServer.fail({ ...fault, path: "sendRichMessage" });
    await send(bench, table);
    expect(bench.fakeServer.sent).toMatchObject([{ entities: [{ type: "pre" }] }]);
    expect(called(bench)).toEqual(["sendRichMessage", "sendMessage"]);
  });

  it("does not fall back to text if the outcome is unknown", async () => {
    await using bench = await openBench({ richMessages: true });
    bench.fakeServer.fail({ kind: "cut", path: "sendRichMessage" });
    await expect(send(bench, table)).rejects.toMatchObject({ code: "unknown_outcome" });
    bench.fakeServer.fail({ kind: "rate", retryAfter: 3, path: "sendRichMessage" });
    await expect(send(bench, table)).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 3_000 });
    expect(called(bench)).toEqual(["sendRichMessage", "sendRichMessage"]);
  });

  it("replaces text and is replaced by text on edit, keeping buttons", async () => {
    await using bench = await openBench({ richMessages: true });
    const { parts } = await send(bench, "a text");
    const messageId = parts[0]?.messageId ?? "";
    const buttons = [{ id: "yes", label: "Yes" }];
    const edit = (part: OutboundPart) => bench.channel.edit?.(to, messageId, { parts: [part] }, never);
    await edit({ type: "buttons", text: table, buttons });
    await edit({ type: "buttons", text: table, buttons });
    const keyboard = { inline_keyboard: [[{ text: "Yes" }]] };
    expect(bench.fakeServer.sent).toMatchObject([{ rich: [{ type: "table" }], keyboard }]);
    bench.fakeServer.fail({ kind: "refuse", path: "editMessageText" });
    await edit({ type: "markdown", text: "# Title" });
    expect(bench.fakeServer.sent).toMatchObject([{ rich: undefined, text: "Title" }]);
  });

  it("happens when a draft is finalized; the draft itself is text", async () => {
    await using bench = await openBench({ richMessages: true });
    const draft = await bench.channel.openDraft?.(to, options);
    await draft?.update(table);
    expect(bench.fakeServer.sent).toMatchObject([{ entities: [{ type: "pre" }] }]);
    await draft?.finalize({ parts: [{ type: "markdown", text: table }] });
    expect(bench.fakeServer.sent).toMatchObject([{ rich: [{ type: "table" }] }]);
  });

  it("never produces blocks that Telegram rejects, for arbitrary Markdown", async () => {
    await using bench = await openBench({ richMessages: true });
    const pieces = [
      ...[
        "**",
        "*",
        "`",
        "~~",
        "> ",
        "- ",
        "  - ",
        "1. ",
        "[x](https://e.org)",
        "[",
        "](x)",
        "# ",
        "$",
        "$$",
      ],
      ...[
        "| a | b |\n| - | - |\n| | c |\n",
        "\n",
        "\n\n",
        "word ",
        "字 ",
        "😀",
        "<b>",
        "```\n",
        "\\",
        "---\n",
      ],
      ...["![i](https://e.org/i.png)", "[^1]", "[x] ", "    ", "\\(a\\)"],
    ];
    const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((some) => some.join(""));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        fc.pre(text.trim() !== "");
        const before = called(bench).length;
        await send(bench, text);
        expect(called(bench).length - before, text).toBe(1);
      }),
      { numRuns: 200 },
    );
    expect(called(bench)).toContain("sendRichMessage");
  });
});

describe("received rich messages", () => {
  async function read(blocks: readonly unknown[]) {
    await using bench = await openBench();
    const fields = { rich_message: { blocks } };
    await bench.fakeServer.push(update("message", messageObject(undefined, { fields })));
    await expect.poll(() => bench.events.length).toBe(1);
    return bench.events[0];
  }
  const paragraph = (text: unknown) => ({ type: "paragraph", text });
  const textOf = async (...blocks: readonly unknown[]) => {
    const event = await read(blocks);
    return event?.type === "message" ? event.text : event;
  };

  it.each([
    [
      "marks",
      paragraph(["so ", { type: "bold", text: ["very ", { type: "code", text: "x" }] }]),
      "so **very `x`**",
    ],
    ["a link", paragraph({ type: "url", text: "docs", url: "https://e.org" }), "[docs](https://e.org)"],
    ["an address", paragraph({ type: "url", text: "https://e.org", url: "https://e.org" }), "https://e.org"],
    ["a formula", paragraph({ type: "mathematical_expression", expression: "x^2" }), "$x^2$"],
    ["a formula by itself", { type: "mathematical_expression", expression: "x^2" }, "$$x^2$$"],
    ["code", { type: "pre", text: "ls -l", language: "sh" }, "```sh\nls -l\n```"],
    ["an emoji", paragraph({ type: "custom_emoji", custom_emoji_id: "1", alternative_text: "👍" }), "👍"],
    [
      "a list with a list in it",
      {
        type: "list",
        items: [
          {
            label: "3.",
            value: 3,
            blocks: [paragraph("three"), { type: "list", items: [{ blocks: [paragraph("deep")] }] }],
          },
          { label: "•", has_checkbox: true, is_checked: true, blocks: [paragraph("done")] },
        ],
      },
      "3. three\n\n   - deep\n- [x] done",
    ],
    [
      "a quotation",
      { type: "blockquote", blocks: [paragraph("one"), paragraph("two")], credit: "Zhang" },
      "> one\n>\n> two\n>\n> — Zhang",
    ],
    ["details", { type: "details", summary: "More", blocks: [paragraph("inside")] }, "More\n\ninside"],
    ["a place", { type: "map", location: { latitude: 1, longitude: 2 }, zoom: 3 }, "[location: 1, 2]"],
    ["buttons", { type: "buttons", buttons: [{ text: "Yes", url: "https://e.org" }] }, "[Yes]"],
    ["a pipe in a table", { type: "table", cells: [[{ text: "a|b" }], [{}]] }, "| a\\|b |\n| --- |\n|  |"],
    [
      "what nobody knows yet",
      { type: "poem", text: "roses", blocks: [paragraph("are red")] },
      "roses\n\nare red",
    ],
  ])("read as Markdown: %s", async (_, block, text) => {
    expect(await textOf(block)).toBe(text);
  });

  it("include their attachments", async () => {
    const file = { file_id: "f", file_unique_id: "u", file_size: 5 };
    const voice = { type: "voice_note", voice_note: file, caption: { text: "listen" } };
    expect(
      await read([{ type: "collage", blocks: [voice, { type: "document", document: file }] }]),
    ).toMatchObject({
      text: "listen",
      media: [
        { kind: "audio", mimeType: "audio/ogg", ref: { fileId: "f" } },
        { kind: "file", ref: { fileId: "f" } },
      ],
    });
  });

  it("can begin with a command", async () => {
    await using bench = await openBench(
      {},
      { context: { commands: [{ name: "status", description: "How it is" }] } },
    );
    const command = { type: "bot_command", text: "/status", bot_command: "/status" };
    const fields = { rich_message: { blocks: [paragraph([command, " all"])] } };
    await bench.fakeServer.push(update("message", messageObject(undefined, { fields })));
    await expect.poll(() => bench.events).toMatchObject([{ type: "command", name: "status", args: "all" }]);
  });

  it("are quoted by their text and read again after an edit", async () => {
    await using bench = await openBench();
    const rich_message = { blocks: [{ type: "heading", text: "Plan", size: 1 }] };
    const answered = messageObject(undefined, { messageId: 5, fields: { rich_message } });
    await bench.fakeServer.push(textMessage("why?", { fields: { reply_to_message: answered } }));
    await bench.fakeServer.push(
      update("edited_message", messageObject(undefined, { messageId: 5, fields: { rich_message } })),
    );
    await expect
      .poll(() => bench.events)
      .toMatchObject([
        { type: "message", references: [{ kind: "reply", messageId: "5001:5", text: "# Plan" }] },
        { type: "edited", messageId: "5001:5", text: "# Plan" },
      ]);
  });

  it("are read only to a bounded depth", async () => {
    let block: unknown = paragraph("deepest");
    for (let level = 0; level < 5_000; level += 1) block = { type: "blockquote", blocks: [block] };
    let text: unknown = "deepest";
    for (let level = 0; level < 5_000; level += 1) text = [{ type: "bold", text }];
    expect(await textOf(paragraph("top"), block, paragraph(text))).toMatch(/^top\n\n/);
  });
});
