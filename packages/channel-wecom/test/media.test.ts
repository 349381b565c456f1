import { randomBytes } from "node:crypto";
import type { MediaRef } from "@signalbox/channel";
import { textMessage, wecomMessage } from "@signalbox/testkit/wecom";
import { expect, it, onTestFinished } from "vitest";
import { limits } from "../src/limits.ts";
import { never, openBench } from "./harness.ts";

async function open() {
  const bench = await openBench();
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const fetchMedia = async (ref: MediaRef) => {
    const fetched = await bench.channel.fetchMedia?.(ref, never);
    if (fetched === undefined) throw new Error("The channel fetches no media.");
    return { ...fetched, bytes: Buffer.from(await new Response(fetched.body).arrayBuffer()) };
  };
  return { ...bench, fetchMedia };
}

const refTo = (ref: MediaRef["ref"]): MediaRef => ({
  kind: "file",
  mimeType: "application/octet-stream",
  ref,
});

it("decrypts attachments of a message, with the name and type from the response", async () => {
  const { fakeServer, events, fetchMedia } = await open();
  for (const length of [0, 1, 15, 16, 31, 32, 33, 100_000]) {
    const content = randomBytes(length);
    const file = fakeServer.addAttachment(content, {
      "content-type": "application/pdf",
      "content-disposition": "attachment; filename*=UTF-8''%E8%AE%A1%E5%88%92.pdf",
    });
    fakeServer.pushMessage(wecomMessage({ msgtype: "file", file }));
    await expect.poll(() => events).toHaveLength(1);
    const event = events.pop();
    const [ref] = event?.type === "message" ? event.media : [];
    if (ref === undefined) throw new Error("The message has no attachment.");
    const { bytes, mimeType, name } = await fetchMedia(ref);
    expect(bytes.equals(content)).toBe(true);
    expect({ mimeType, name }).toEqual({ mimeType: "application/pdf", name: "计划.pdf" });
  }
});

it("fails to decrypt with a wrong key, a damaged file and a key of another length", async () => {
  const { fakeServer, fetchMedia } = await open();
  const { url, aeskey } = fakeServer.addAttachment(randomBytes(1_000));
  const other = randomBytes(32).toString("base64");
  for (const aesKey of [other, "short"])
    await expect(fetchMedia(refTo({ url, aesKey }))).rejects.toMatchObject({ code: "invalid" });
  fakeServer.answerAt(new URL(url).pathname, () => new Response("not a multiple of the block size"));
  await expect(fetchMedia(refTo({ url, aesKey: aeskey }))).rejects.toMatchObject({ code: "invalid" });
});

it("refuses encrypted attachments over the size limit, announced or not", async () => {
  const { fakeServer, fetchMedia } = await open();
  const { url, aeskey } = fakeServer.addAttachment(Buffer.alloc(limits.mediaBytes + 64));
  await expect(fetchMedia(refTo({ url, aesKey: aeskey }))).rejects.toMatchObject({ code: "too_large" });
  const headers = { "content-length": String(limits.mediaBytes + 33) };
  fakeServer.answerAt(new URL(url).pathname, () => new Response(new ReadableStream(), { headers }));
  await expect(fetchMedia(refTo({ url, aesKey: aeskey }))).rejects.toMatchObject({ code: "too_large" });
});

it("downloads only from WeCom's hosts and the configured ones", async () => {
  const requested: string[] = [];
  const bench = await openBench(
    { apiBaseUrl: "https://wecom.example" },
    {
      context: {
        fetch: async (input) => {
          requested.push(String(input));
          return new Response("content");
        },
      },
    },
  );
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const { channel } = bench;
  const allowed = [
    "https://ww-aibot-img-1258476243.cos.ap-guangzhou.myqcloud.com/a?sign=b",
    "https://szfile.weixin.qq.com/a",
    "https://wecom.example/a",
  ];
  for (const url of allowed) await channel.fetchMedia?.(refTo({ url }), never);
  expect(requested).toEqual(allowed);
  for (const url of [
    "http://szfile.weixin.qq.com/a",
    "https://szfile.weixin.qq.com:8443/a",
    "https://wecom.example:8443/a",
    "https://evil.cos.ap-guangzhou.myqcloud.com/a",
    "https://ww-aibot-img-1.cos.ap-guangzhou.myqcloud.com.evil.example/a",
    "https://weixin.qq.com.evil.example/a",
    "https://evilweixin.qq.com.example/a",
    "https://169.254.169.254/latest",
    "file:///etc/passwd",
    "//wecom.example/a",
  ])
    await expect(channel.fetchMedia?.(refTo({ url }), never)).rejects.toMatchObject({ code: "invalid" });
  expect(requested).toEqual(allowed);
});

it("does not put the URL for replies into the raw payload of an event", async () => {
  const bench = await openBench({}, { context: { raw: true } });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  bench.fakeServer.pushMessage({
    ...textMessage("hi"),
    response_url: "https://qyapi.weixin.qq.com/x?response_code=s",
  });
  await expect.poll(() => bench.events).toHaveLength(1);
  expect(bench.events[0]?.raw).toMatchObject({ msgtype: "text" });
  expect(JSON.stringify(bench.events)).not.toContain("response_code");
});
