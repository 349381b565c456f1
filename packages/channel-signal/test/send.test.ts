import { type ChannelErrorCode, createInMemoryState, type OutboundPart } from "@signalbox/channel";
import { createAdjustableClock } from "@signalbox/channel/testkit";
import { type SignalFault, signalPerson, textEnvelope } from "@signalbox/testkit/signal";
import { describe, expect, it } from "vitest";
import { toStyledText } from "../src/outbound/styled.ts";
import { account, type Bench, group, never, openBench, to } from "./harness.ts";

const options = { idempotencyKey: "key", signal: never };
const hello: OutboundPart = { type: "text", text: "hello" };

function send({ channel }: Bench, part: OutboundPart = hello, address = to, replyTo?: string) {
  return channel.send(address, { parts: [part], ...(replyTo === undefined ? {} : { replyTo }) }, options);
}

describe("Markdown", () => {
  it("becomes text with Signal's styles", () => {
    const { text, styles } = toStyledText(
      "# Title\n\n**bold *both*** and ~~old~~ `x`\n\n- [a](https://a.b)\n\n```js\nlet y\n```\n",
    );
    expect(text).toBe("Title\n\nbold both and old x\n\n- a (https://a.b)\n\nlet y");
    const words = styles.map((style) => {
      const [start = 0, length = 0] = style.split(":").map(Number);
      return `${style.split(":")[2]} ${text.slice(start, start + length)}`;
    });
    expect(words).toEqual([
      "BOLD Title",
      "ITALIC both",
      "BOLD bold both",
      "STRIKETHROUGH old",
      "MONOSPACE x",
      "MONOSPACE let y",
    ]);
  });

  it("keeps ranges exact after emoji and Chinese, whose length is in UTF-16 code units", () => {
    expect(toStyledText("😀你 **好**")).toEqual({ text: "😀你 好", styles: ["4:1:BOLD"] });
  });

  it("is not changed by characters that mark ranges internally", () => {
    expect(toStyledText("a\ufdd0b **c**\ufdd1")).toEqual({ text: "ab c", styles: ["3:1:BOLD"] });
  });

  it("leaves out styles over the limit, but no words", () => {
    const { text, styles } = toStyledText("**a**\n\n".repeat(240).trim());
    expect(text).toBe("a\n\n".repeat(240).trim());
    expect(styles).toHaveLength(200);
  });

  it("is sent without styles if they are refused", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "error", code: -1, message: "Invalid textStyle syntax" });
    await send(bench, { type: "markdown", text: "**x**" });
    expect(bench.fakeServer.sent).toMatchObject([{ texts: ["x"], styles: [] }]);
  });
});

describe("a message", () => {
  it("quotes another one, and goes to a group", async () => {
    await using bench = await openBench();
    await send(bench, hello, { group }, `1760000000000:${signalPerson.uuid}`);
    expect(bench.fakeServer.sent).toMatchObject([
      { to: group, quote: { timestamp: 1_760_000_000_000, author: signalPerson.uuid } },
    ]);
  });

  it("is sent without the quote if the quoted message has no valid id", async () => {
    await using bench = await openBench();
    await send(bench, hello, to, "nonsense");
    expect(bench.fakeServer.sent.map(({ quote }) => quote)).toEqual([undefined]);
  });

  it("names the account, which a daemon with several accounts requires", async () => {
    await using bench = await openBench({ multiAccount: true });
    await send(bench);
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("can be edited for 24 hours, and only by its author", async () => {
    const clock = createAdjustableClock(Date.now());
    await using bench = await openBench({ context: { clock } });
    const { parts } = await send(bench);
    const messageId = parts[0]?.messageId ?? "";
    const edit = { parts: [{ type: "markdown", text: "**new**" }] } as const;
    await bench.channel.edit?.(to, messageId, edit, never);
    expect(bench.fakeServer.sent).toMatchObject([{ texts: ["hello", "new"], styles: ["0:3:BOLD"] }]);
    const others = bench.channel.edit?.(to, `1760000000000:${signalPerson.uuid}`, edit, never);
    await expect(others).rejects.toMatchObject({ code: "permission" });
    clock.advance(25 * 3_600_000);
    const late = bench.channel.edit?.(to, messageId, edit, never);
    await expect(late).rejects.toMatchObject({ code: "permission" });
    expect(bench.fakeServer.requests.filter(({ text }) => text.includes("editTimestamp"))).toHaveLength(1);
  });

  it("passes the file name of an attachment unchanged, and never as a path", async () => {
    await using bench = await openBench();
    const name = "报告; 1,5+2 %.txt";
    const part = { type: "media", kind: "file", name, mimeType: "text/plain", size: 3, ref: 1 } as const;
    const openMedia = async () => new Blob(["abc"]).stream();
    await bench.channel.send(to, { parts: [part] }, { ...options, openMedia });
    expect(bench.fakeServer.sent).toMatchObject([{ attachment: { name, mimeType: "text/plain" } }]);
  });

  it("sends a recording as a voice note only if it is a voice message", async () => {
    await using bench = await openBench();
    const song = {
      type: "media",
      kind: "audio",
      name: "a.ogg",
      mimeType: "audio/ogg",
      size: 3,
      ref: 1,
    } as const;
    const openMedia = async () => new Blob(["abc"]).stream();
    await bench.channel.send(to, { parts: [{ ...song, voice: true }, song] }, { ...options, openMedia });
    expect(bench.fakeServer.sent.map(({ isVoiceNote }) => isVoiceNote)).toEqual([true, undefined]);
  });
});

/** Refusals of signal-cli, and the meaning of each. */
const refusals: readonly (readonly [string, Partial<SignalFault>, ChannelErrorCode, string])[] = [
  [
    "an unlinked account",
    { code: -32_603, message: "[401] (AuthorizationFailedException)" },
    "auth",
    "account",
  ],
  ["an unknown account", { code: -32_602, message: "Specified account does not exist" }, "auth", "account"],
  [
    "a group that was left",
    { code: -1, message: "User is not a member in group: x" },
    "permission",
    "conversation",
  ],
  [
    "a group of administrators",
    { code: -1, message: "Sending to group not allowed: x" },
    "permission",
    "conversation",
  ],
  ["an unknown group", { code: -1, message: "Group not found: x" }, "not_found", "conversation"],
  [
    "an unregistered person",
    { code: -1, message: "The user x is not registered." },
    "not_found",
    "conversation",
  ],
  ["too large an attachment", { code: -32_603, message: "[413] Response" }, "too_large", "message"],
  ["a missing attachment", { code: -32_603, message: "/tmp/a (NoSuchFileException)" }, "invalid", "message"],
  ["an unknown command", { code: -32_601, message: "Method not implemented" }, "unsupported", "message"],
  [
    "a failure of the network behind signal-cli",
    { code: -3, message: "timeout" },
    "unknown_outcome",
    "message",
  ],
  ["an internal error", { code: -32_603, message: "null" }, "unknown_outcome", "message"],
];

describe("a refusal", () => {
  for (const [name, fault, code, scope] of refusals)
    it(`because of ${name} has the code ${code}`, async () => {
      await using bench = await openBench();
      bench.fakeServer.fail({ kind: "error", times: 3, ...fault });
      await expect(send(bench)).rejects.toMatchObject({ code, scope });
      expect(bench.fakeServer.sent).toEqual([]);
    });

  it("names the remedy if a safety number has changed", async () => {
    await using bench = await openBench();
    bench.fakeServer.refuse(signalPerson.uuid, "IDENTITY_FAILURE");
    await expect(send(bench)).rejects.toMatchObject({
      code: "permission",
      scope: "conversation",
      message: expect.stringContaining("signal-cli trust"),
    });
  });

  it("of a single recipient is read from the results", async () => {
    await using bench = await openBench();
    bench.fakeServer.refuse(signalPerson.uuid, "UNREGISTERED_FAILURE");
    await expect(send(bench)).rejects.toMatchObject({ code: "not_found", scope: "conversation" });
    bench.fakeServer.refuse(signalPerson.uuid, "NETWORK_FAILURE");
    await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
  });

  it("of the rate contains the time that Signal demands", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "rate", retryAfterSeconds: 86_400 });
    await expect(send(bench)).rejects.toMatchObject({ code: "rate_limited", retryAfterMs: 86_400_000 });
  });
});

describe("a message with a lost answer", () => {
  it("has an unknown outcome, and was sent once, in each of 200 cases", async () => {
    await using bench = await openBench({ context: { state: createInMemoryState() } });
    for (let count = 1; count <= 200; count += 1) {
      bench.fakeServer.fail({ kind: "cut" });
      await expect(send(bench)).rejects.toMatchObject({ code: "unknown_outcome" });
      expect(bench.fakeServer.sent).toHaveLength(count);
    }
  });

  it("cannot be looked up, because signal-cli has no history", async () => {
    await using bench = await openBench();
    expect(bench.channel.reconcile).toBeUndefined();
  });

  it("was certainly not sent if the daemon does not run", async () => {
    await using bench = await openBench();
    await bench.fakeServer.stop();
    await expect.poll(() => bench.channel.health().state).toBe("down");
    await expect(send(bench)).rejects.toMatchObject({ code: "transient" });
  });

  it("can be repeated if it was a reaction, a deletion or a typing indicator", async () => {
    await using bench = await openBench();
    await bench.fakeServer.push(textEnvelope("hi", { timestamp: 1_760_000_000_000 }));
    const messageId = `1760000000000:${signalPerson.uuid}`;
    bench.fakeServer.fail({ kind: "cut", path: "sendReaction" });
    const reaction = { emoji: "👍", on: true };
    await expect(bench.channel.react?.(to, messageId, reaction, never)).rejects.toMatchObject({
      code: "transient",
    });
    await bench.channel.react?.(to, messageId, reaction, never);
    expect(bench.fakeServer.reactions(messageId)).toEqual(["👍"]);
    await bench.channel.typing?.(to, { on: true }, never);
    await bench.channel.typing?.(to, { on: false }, never);
    expect(bench.fakeServer.typing).toEqual([signalPerson.uuid, `stop ${signalPerson.uuid}`]);
  });
});

describe("errors and logs", () => {
  it("contain no text of a message", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "cut" });
    const error = await send(bench, { type: "text", text: "private words" }).catch(
      (reason: unknown) => reason,
    );
    expect(`${error} ${bench.logged.join()}`).not.toContain("private words");
    expect(String(error)).not.toContain(account);
  });
});
