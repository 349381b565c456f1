import { changed, textMessage } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { openBench } from "./harness.ts";

const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });

/** Returns the event of a bot's message with these fields. */
async function receive(text: string, fields: Readonly<Record<string, unknown>>) {
  await using bench = await openBench();
  const alert = textMessage(text, { channelType: "channel", botId: "B_ALERTS", subtype: "bot_message" });
  const event = { ...Object(alert.body.event), ...fields };
  await bench.fakeServer.postEvent(bench.url, { ...alert, body: { ...alert.body, event } });
  return bench.events[0];
}

describe("a message of a bot", () => {
  it.each([
    [
      "its notification and its blocks",
      "Alert",
      { blocks: [{ type: "header", text: { type: "plain_text", text: "CPU at 97 %" } }, section("web-3")] },
      "Alert\nCPU at 97 %\nweb-3",
    ],
    [
      "its blocks alone if they contain the notification",
      "CPU at 97 %",
      { blocks: [section("*CPU* at 97 %"), section("on <https://a.example|web-3>")] },
      "*CPU* at 97 %\non [web-3](https://a.example)",
    ],
    [
      "its text and its attachments",
      "Build failed",
      {
        attachments: [
          { title: "Job 7", text: "<@U_BOT> broke", fields: [{ title: "Branch", value: "main" }] },
        ],
      },
      "Build failed\n\nJob 7\n@signalbox broke\nBranch: main",
    ],
    ["its Markdown blocks", "", { blocks: [{ type: "markdown", text: "**done**\n- a" }] }, "**done**\n- a"],
    [
      "its tables",
      "",
      {
        blocks: [
          {
            type: "table",
            rows: [
              [
                { type: "raw_text", text: "Host" },
                { type: "raw_text", text: "Load" },
              ],
              [
                { type: "raw_text", text: "web-3" },
                { type: "raw_text", text: "97 %" },
              ],
            ],
          },
        ],
      },
      "| Host | Load |\n| web-3 | 97 % |",
    ],
  ])("has %s", async (_, text, fields, expected) => {
    expect(await receive(text, fields)).toMatchObject({ type: "message", text: expected });
  });

  it("that is shared has the text of its blocks", async () => {
    const attachments = [
      {
        is_share: true,
        channel_id: "C_OTHER",
        ts: "1767225600.000100",
        author_name: "Alerts",
        fallback: "[no preview available]",
        message_blocks: [{ message: { blocks: [section("CPU at 97 %")] } }],
      },
    ];
    expect(await receive("look", { attachments })).toMatchObject({
      text: "look",
      references: [{ kind: "forward", sender: { name: "Alerts" }, text: "CPU at 97 %" }],
    });
  });
});

describe("an edit without the previous version", () => {
  const at = { ts: "1767225600.000100", channel: "C_GENERAL", channelType: "channel" } as const;

  async function receiveChange(message: Readonly<Record<string, unknown>>) {
    await using bench = await openBench();
    const change = changed("at six", "at five", at);
    const { previous_message: _, ...event } = Object(change.body.event);
    const body = { ...change.body, event: { ...event, message: { ...event.message, ...message } } };
    const response = await bench.fakeServer.postEvent(bench.url, { ...change, body });
    return { status: response.status, events: bench.events };
  }

  it("is read if Slack says who edited the message", async () => {
    const edited = { user: "U_ANN", ts: "1767225601.000000" };
    expect(await receiveChange({ edited })).toMatchObject({
      status: 200,
      events: [{ type: "edited", text: "at six" }],
    });
  });

  it("is ignored otherwise", async () => {
    expect(await receiveChange({ edited: undefined })).toMatchObject({ status: 200, events: [] });
  });
});
