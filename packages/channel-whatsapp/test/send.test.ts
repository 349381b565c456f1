import type { ButtonsPart, MediaPart, Outbound } from "@signalbox/channel";
import { createOggOpus } from "@signalbox/testkit/speech";
import { person, textMessage } from "@signalbox/testkit/whatsapp";
import { describe, expect, it } from "vitest";
import { type Bench, never, openBench, post } from "./harness.ts";

const to = { to: person.id };
const text = { type: "text", text: "the answer" } as const;

function send({ channel }: Bench, message: Outbound, key = "k") {
  const openMedia = async () => new Blob(["four"]).stream();
  return channel.send(to, message, { idempotencyKey: key, signal: never, openMedia });
}

function picture(mimeType = "image/png"): MediaPart {
  return { type: "media", kind: "image", name: 'a "b"\r\n.png', mimeType, size: 4, ref: 1 };
}

describe("a message", () => {
  it("is a reply in its first part and has a key in every part", async () => {
    await using bench = await openBench();
    await send(bench, { parts: [text, text], replyTo: "wamid.0" });
    expect(bench.fakeServer.sent.map(({ body }) => body)).toEqual([
      {
        messaging_product: "whatsapp",
        recipient_type: "individual",
        to: person.id,
        type: "text",
        text: { body: "the answer", preview_url: false },
        context: { message_id: "wamid.0" },
        biz_opaque_callback_data: "k.0",
      },
      expect.not.objectContaining({ context: expect.anything() }),
    ]);
    expect(bench.fakeServer.sent[1]?.callbackData).toBe("k.1");
  });

  it.each([
    [
      { to: "US.13491208655302741918" },
      { recipient_type: "individual", recipient: "US.13491208655302741918" },
    ],
    [
      { to: "Y2FwaV9n", isGroup: true },
      { recipient_type: "group", to: "Y2FwaV9n" },
    ],
  ] as const)("goes to %o", async (address, fields) => {
    await using bench = await openBench();
    await bench.channel.send(address, { parts: [text] }, { idempotencyKey: "k", signal: never });
    expect(bench.fakeServer.sent[0]?.body).toMatchObject(fields);
  });

  it("has an unknown outcome if the response contains no id", async () => {
    await using bench = await openBench();
    bench.fakeServer.answerAt("/v23.0/", () => Response.json({ messages: [] }));
    await expect(send(bench, { parts: [text] })).rejects.toMatchObject({ code: "unknown_outcome" });
  });

  it("is not sent to the target of a redirect", async () => {
    await using bench = await openBench();
    const headers = { location: "http://127.0.0.1:9/" };
    bench.fakeServer.answerAt("/v23.0/", () => new Response(null, { status: 307, headers }));
    await expect(send(bench, { parts: [text] })).rejects.toMatchObject({ code: "invalid" });
  });
});

describe("a refusal", () => {
  it.each([
    [131047, "permission", "conversation"],
    [131030, "permission", "conversation"],
    [131026, "not_found", "conversation"],
    [131056, "rate_limited", "conversation"],
    [130429, "rate_limited", "account"],
    [131016, "transient", "account"],
    [131045, "auth", "account"],
    [190, "auth", "account"],
    [10, "auth", "account"],
    [131000, "unknown_outcome", "message"],
  ] as const)("with code %i is %s for the %s", async (code, expected, scope) => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "error", code, times: 5 });
    await expect(send(bench, { parts: [text] })).rejects.toMatchObject({ code: expected, scope });
    expect(bench.fakeServer.sent).toEqual([]);
  });

  it("with HTTP 500 has an unknown outcome, whatever its code", async () => {
    await using bench = await openBench();
    const error = { code: 131009, message: "(#131009) Parameter value is not valid" };
    bench.fakeServer.answerAt("/v23.0/", () => Response.json({ error }, { status: 500 }));
    await expect(send(bench, { parts: [text] })).rejects.toMatchObject({ code: "unknown_outcome" });
  });

  it("outside the 24-hour window names templates", async () => {
    await using bench = await openBench();
    bench.fakeServer.closeWindow(person.id);
    await expect(send(bench, { parts: [text] })).rejects.toThrow(
      /24 hours old.*approved message templates.*must write first/,
    );
  });

  it("of a test number names its list of recipients", async () => {
    await using bench = await openBench({ allowed: ["15550000001"] });
    await expect(send(bench, { parts: [text] })).rejects.toThrow(/list of allowed recipients/);
  });

  it("of the token does not contain the token, although Meta's message does", async () => {
    await using bench = await openBench();
    bench.fakeServer.revoke();
    const error = await send(bench, { parts: [text] }).catch((one: unknown) => one);
    expect(String(error)).toBe(
      "ChannelError: WhatsApp: sending a message: HTTP 401, 190: the access token is invalid, expired or revoked",
    );
  });
});

describe("an attachment", () => {
  it("that is refused as an image is sent as a document with its name", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "error", code: 131053 });
    await send(bench, { parts: [picture()] });
    expect(bench.fakeServer.sent.map(({ body }) => body)).toMatchObject([
      { type: "document", document: { filename: 'a "b"\r\n.png' } },
    ]);
  });

  it("shows a recording as a voice message only if it is Opus", async () => {
    await using bench = await openBench();
    const opus = createOggOpus();
    const mp3 = Buffer.from("ID3");
    const part = { type: "media", kind: "audio", name: "voice.ogg", ref: 1, voice: true } as const;
    const sendRecording = (bytes: Buffer, mimeType: string) =>
      bench.channel.send(
        to,
        { parts: [{ ...part, mimeType, size: bytes.length }] },
        {
          idempotencyKey: mimeType.slice(-3),
          signal: never,
          openMedia: async () => new Blob([new Uint8Array(bytes)]).stream(),
        },
      );
    await sendRecording(opus, "audio/ogg");
    await sendRecording(mp3, "audio/mpeg");
    expect(bench.fakeServer.sent.map(({ body }) => body["audio"])).toEqual([
      { id: expect.any(String), voice: true },
      { id: expect.any(String) },
    ]);
  });

  it("whose upload gets no response was certainly not sent", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "cut", path: "/media" });
    await expect(send(bench, { parts: [picture()] })).rejects.toMatchObject({ code: "transient" });
    expect(bench.fakeServer.sent).toEqual([]);
  });
});

describe("a question", () => {
  const part = (count: number, label = (index: number) => `Choice ${index}`): ButtonsPart => ({
    type: "buttons",
    text: "Which **one**?",
    buttons: Array.from({ length: count }, (_, index) => ({ id: "b", label: label(index), value: index })),
  });

  it("has buttons up to three choices and a list up to ten", async () => {
    await using bench = await openBench();
    await send(bench, { parts: [part(3)] }, "k1");
    await send(bench, { parts: [part(10)] }, "k2");
    expect(bench.fakeServer.sent.map(({ body, text: shown }) => [body["interactive"], shown])).toMatchObject([
      [{ type: "button" }, "Which *one*?"],
      [{ type: "list" }, "Which *one*?"],
    ]);
  });

  it("becomes a list if a label is too long for a button, with the whole label as description", async () => {
    await using bench = await openBench();
    const label = "Only the files that have changed";
    await send(bench, { parts: [part(1, () => label)] });
    expect(bench.fakeServer.sent[0]?.body).toMatchObject({
      interactive: {
        action: { sections: [{ rows: [{ title: "Only the files that hav…", description: label }] }] },
      },
    });
  });

  it("gets different titles, because WhatsApp rejects equal ones", async () => {
    await using bench = await openBench();
    await send(bench, { parts: [part(3, () => "Yes, go ahead, do it")] });
    const titles = JSON.stringify(bench.fakeServer.sent[0]?.body).match(/"title":"[^"]*"/g);
    expect(titles).toEqual([
      '"title":"Yes, go ahead, do it"',
      '"title":"Yes, go ahead, … (2)"',
      '"title":"Yes, go ahead, … (3)"',
    ]);
  });
});

describe("the typing indicator", () => {
  it("refers to the given message, or to the last one of the person", async () => {
    await using bench = await openBench();
    await bench.channel.typing?.(to, { on: true }, never);
    expect(bench.fakeServer.typing).toEqual([]);
    for (const id of ["wamid.1", "wamid.2"]) await post(bench, textMessage("hello", { id }));
    await bench.channel.typing?.(to, { on: true }, never);
    await bench.channel.typing?.(to, { on: true, messageId: "wamid.1" }, never);
    await bench.channel.typing?.(to, { on: false }, never);
    expect(bench.fakeServer.typing).toEqual(["wamid.2", "wamid.1"]);
  });
});

describe("a person", () => {
  it("can be written to by number, and a hostile id is rejected", async () => {
    await using bench = await openBench();
    expect(await bench.channel.openDirect?.(person.id, never)).toEqual(to);
    for (const id of ["../me", "group/x/y", "", "+1", "0"])
      await expect(bench.channel.openDirect?.(id, never)).rejects.toMatchObject({ code: "invalid" });
  });
});
