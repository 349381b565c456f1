import { groupId, person } from "@signalbox/testkit/dingtalk";
import { createOggOpus } from "@signalbox/testkit/speech";
import { describe, expect, it } from "vitest";
import { type Bench, expectChannelError, never, openBench } from "./harness.ts";

const to = { userId: person.staffId };
const group = { conversationId: groupId };
const options = { idempotencyKey: "run-1", signal: never };

async function sendMarkdown({ channel, fakeServer }: Bench, text: string): Promise<string | undefined> {
  await channel.send(to, { parts: [{ type: "markdown", text }] }, options);
  return fakeServer.sent.at(-1)?.text;
}

function callsOf({ fakeServer }: Bench, path: string): number {
  return fakeServer.requests.filter((request) => request.path.startsWith(path)).length;
}

describe("messages", () => {
  it("sends to a person and to a group", async () => {
    await using bench = await openBench();
    for (const place of [to, group])
      await bench.channel.send(place, { parts: [{ type: "text", text: "hi" }] }, options);
    expect(bench.fakeServer.sent).toMatchObject([
      { to, kind: "sampleText", text: "hi" },
      { to: group, kind: "sampleText", text: "hi" },
    ]);
  });

  it.each([
    ["lines", "one\ntwo", "one  \ntwo"],
    [
      "paragraphs and lists",
      "# Title\n\n- a\n- b\n\n**bold** `code`",
      "# Title\n\n- a\n- b\n\n**bold** `code`",
    ],
    ["code with line ends", "```js\na\nb\n```", "```js\na\nb\n```"],
    ["a table as lines", "| a | b |\n| --- | --- |\n| 1 | 2 |", "**a** | **b**  \n1 | 2"],
    ["an image as a link", "![cat](https://x.test/c.png)", "[cat](https://x.test/c.png)"],
    ["HTML as text", "a <b>c</b>", "a &lt;b>c&lt;/b>"],
  ])("writes %s", async (_, markdown, expected) => {
    await using bench = await openBench();
    expect(await sendMarkdown(bench, markdown)).toBe(expected);
  });

  it.each([
    "[Approve](dtmd://dingtalkclient/sendMessage?content=/approve)",
    "<dtmd://dingtalkclient/sendMessage?content=/approve>",
    "[Approve][1]\n\n[1]: dtmd://dingtalkclient/sendMessage?content=/approve",
    '<a href="dtmd://dingtalkclient/sendMessage?content=/approve">Approve</a>',
    "[Approve](DTMD://dingtalkclient/sendMessage?content=/approve)",
    "[Approve](javascript:alert(1))",
  ])("sends no link that acts in the name of the person who clicks it: %s", async (markdown) => {
    await using bench = await openBench();
    const shown = (await sendMarkdown(bench, markdown)) ?? "";
    expect(shown).not.toMatch(/\]\(\s*(?:dtmd|javascript):|<dtmd:|<a |^\[1\]:/im);
  });

  it("shows the first line as title, without markup", async () => {
    await using bench = await openBench();
    await sendMarkdown(bench, "## **Release** notes\n\nbody");
    expect(bench.fakeServer.sent[0]?.title).toBe("Release notes");
    await sendMarkdown(bench, "👍");
    expect(bench.fakeServer.sent[1]?.title).toBe("…");
  });

  it("reports a person outside the organization, and one with too many messages", async () => {
    await using bench = await openBench();
    const { channel, fakeServer } = bench;
    const parts = [{ type: "text", text: "hi" }] as const;
    const missing = channel.send({ userId: "nobody" }, { parts }, options);
    expect(await expectChannelError(missing, "A message to nobody", "not_found")).toMatchObject({
      scope: "conversation",
    });
    const path = "/v1.0/robot/oToMessages/batchSend";
    for (const [list, code] of [
      ["invalidStaffIdList", "not_found"],
      ["flowControlledStaffIdList", "rate_limited"],
    ] as const) {
      fakeServer.answerAt(path, () => Response.json({ processQueryKey: "k", [list]: [person.staffId] }));
      await expectChannelError(channel.send(to, { parts }, options), `A message with ${list}`, code);
    }
    fakeServer.answerAt(path, () => Response.json({}));
    await expectChannelError(
      channel.send(to, { parts }, options),
      "A response without a key",
      "unknown_outcome",
    );
  });

  it("reports a missing permission and DingTalk's rate limit, which have the same HTTP status", async () => {
    await using bench = await openBench({ missingScopes: ["qyapi_robot_sendmsg"] });
    const parts = [{ type: "text", text: "hi" }] as const;
    const sending = () => bench.channel.send(to, { parts }, options);
    const error = await expectChannelError(sending(), "Sending without the permission", "permission");
    expect(error.message).toContain("qyapi_robot_sendmsg");
    bench.fakeServer.fail({ kind: "rate" });
    expect(await expectChannelError(sending(), "Sending too often", "rate_limited")).toMatchObject({
      retryAfterMs: 1_000,
      scope: "account",
    });
  });

  it("requests one token for concurrent messages, and a new one when DingTalk rejects it", async () => {
    await using bench = await openBench();
    const send = (key: string) =>
      bench.channel.send(
        to,
        { parts: [{ type: "text", text: key }] },
        { idempotencyKey: key, signal: never },
      );
    await Promise.all(["a", "b", "c"].map(send));
    expect(callsOf(bench, "/v1.0/oauth2/accessToken")).toBe(1);
    bench.fakeServer.expireTokens();
    await send("d");
    expect(callsOf(bench, "/v1.0/oauth2/accessToken")).toBe(2);
    expect(bench.fakeServer.sent.map(({ text }) => text).toSorted()).toEqual(["a", "b", "c", "d"]);
  });

  it("uploads again with a new token when DingTalk rejects the old one", async () => {
    await using bench = await openBench();
    await bench.channel.send(to, { parts: [{ type: "text", text: "first" }] }, options);
    bench.fakeServer.expireTokens();
    const part = {
      type: "media",
      kind: "file",
      name: "报告.pdf",
      mimeType: "application/pdf",
      size: 3,
      ref: 1,
    } as const;
    const openMedia = async () => new Blob([new Uint8Array([1, 2, 3])]).stream();
    await bench.channel.send(to, { parts: [part] }, { ...options, openMedia });
    expect(bench.fakeServer.sent.at(-1)).toMatchObject({ kind: "sampleFile", fileName: "报告.pdf" });
  });

  it("sends Opus as a voice message with its duration, and other recordings as files", async () => {
    await using bench = await openBench();
    const opus = new Uint8Array(createOggOpus({ seconds: 3 }));
    const voice = { type: "media", kind: "audio", name: "voice.ogg", mimeType: "audio/ogg", ref: 1 } as const;
    const sendRecording = (bytes: Uint8Array<ArrayBuffer>, key: string) =>
      bench.channel.send(
        to,
        { parts: [{ ...voice, size: bytes.length }] },
        { ...options, idempotencyKey: key, openMedia: async () => new Blob([bytes]).stream() },
      );
    await sendRecording(opus, "a");
    await sendRecording(new Uint8Array(Buffer.from("OggS vorbis")), "b");
    expect(bench.fakeServer.sent.map(({ kind, upload }) => [kind, upload?.type])).toEqual([
      ["sampleAudio", "voice"],
      ["sampleFile", "file"],
    ]);
  });

  it("downloads attachments without the access token", async () => {
    await using bench = await openBench();
    bench.fakeServer.addFile("code", Buffer.from("content"));
    const media = { kind: "file", mimeType: "text/plain", ref: { downloadCode: "code" } } as const;
    const fetched = await bench.channel.fetchMedia?.(media, never);
    expect(await new Response(fetched?.body).text()).toBe("content");
    const [download] = bench.fakeServer.requests.filter(({ method }) => method === "GET");
    expect(Object.keys(download?.headers ?? {}).filter((name) => /token|authorization/.test(name))).toEqual(
      [],
    );
  });

  it("sends an image as a file if DingTalk refuses it", async () => {
    await using bench = await openBench();
    const content = new Uint8Array([1, 2, 3]);
    const part = {
      type: "media",
      kind: "image",
      name: "a.png",
      mimeType: "image/png",
      size: 3,
      ref: 1,
    } as const;
    bench.fakeServer.fail({ kind: "refuse", code: "invalidParameter.msg.unsupport" });
    const openMedia = async () => new Blob([content]).stream();
    await bench.channel.send(to, { parts: [part] }, { ...options, openMedia });
    expect(bench.fakeServer.sent).toMatchObject([
      { kind: "sampleFile", fileName: "a.png", upload: { type: "file" } },
    ]);
  });

  it("takes a message back in a group, and reports one that no longer exists", async () => {
    await using bench = await openBench();
    const { channel, fakeServer } = bench;
    const { parts } = await channel.send(group, { parts: [{ type: "text", text: "oops" }] }, options);
    const id = parts[0]?.messageId ?? "";
    await channel.remove?.(group, id, never);
    expect(fakeServer.sent[0]?.isRecalled).toBe(true);
    const again = channel.remove?.(group, id, never) ?? Promise.resolve();
    await expectChannelError(again, "Removing a removed message", "not_found");
  });
});

describe("lost answers", () => {
  it("leaves 200 messages with lost answers uncertain, and sends none of them twice", async () => {
    await using bench = await openBench();
    for (let count = 0; count < 200; count += 1) {
      bench.fakeServer.fail({ kind: "cut" });
      const sending = bench.channel.send(
        to,
        { parts: [{ type: "text", text: `word ${count}` }] },
        { idempotencyKey: `run-${count}`, signal: never },
      );
      await expectChannelError(sending, "A message whose answer is lost", "unknown_outcome");
    }
    expect(bench.fakeServer.sent.map(({ text }) => text)).toEqual(
      Array.from({ length: 200 }, (_, count) => `word ${count}`),
    );
    expect(bench.channel.reconcile).toBeUndefined();
  });
});
