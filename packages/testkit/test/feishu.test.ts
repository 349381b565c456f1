import { createReadStream } from "node:fs";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as lark from "@larksuiteoapi/node-sdk";
import { describe, expect, it } from "vitest";
import {
  type FeishuOptions,
  groupMention,
  push,
  sign,
  startFeishu,
  textMessage,
} from "../src/feishu/index.ts";

const appId = "cli_0123456789abcdef";
const appSecret = "secret";
const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, trace: () => {} };

async function open(options: Partial<FeishuOptions> = {}, secret = appSecret) {
  let now = 1_767_225_600_000;
  const fakeServer = await startFeishu({
    appId,
    appSecret,
    users: { ou_1: { name: "张三" } },
    now: () => now,
    ...options,
  });
  const client = new lark.Client({
    appId,
    appSecret: secret,
    domain: fakeServer.url,
    logger: quiet,
    loggerLevel: lark.LoggerLevel.fatal,
    cache: new lark.DefaultCache(),
  });
  const text = (words: string) => JSON.stringify({ text: words });
  return {
    fakeServer,
    client,
    pass: (ms: number) => {
      now += ms;
    },
    send: (content = text("hi"), msg_type = "text", uuid?: string) =>
      outcome(
        client.im.v1.message.create({
          params: { receive_id_type: "chat_id" },
          data: { receive_id: "oc_1", msg_type, content, ...(uuid === undefined ? {} : { uuid }) },
        }),
      ),
    [Symbol.asyncDispose]: () => fakeServer.stop(),
  };
}

interface Answer {
  code?: number | undefined;
  data?: { message_id?: string | undefined } | undefined;
}

/** The key of an upload, or Feishu's code where it was refused. */
async function codeOf(
  call: Promise<{ image_key?: string | undefined; file_key?: string | undefined } | null>,
): Promise<unknown> {
  try {
    const answer = await call;
    return answer?.image_key ?? answer?.file_key;
  } catch (error) {
    const found = error instanceof Error && "response" in error ? error.response : undefined;
    const data = typeof found === "object" && found !== null && "data" in found ? found.data : undefined;
    return typeof data === "object" && data !== null && "code" in data ? data.code : undefined;
  }
}

/** What came back: Feishu's code and the message's id, also where the SDK throws. */
async function outcome(call: Promise<Answer>): Promise<{ code: number | undefined; id: string | undefined }> {
  try {
    const answer = await call;
    return { code: answer.code, id: answer.data?.message_id };
  } catch (error) {
    const found = Object.assign({ response: { data: { code: undefined } } }, error).response.data.code;
    return { code: found, id: undefined };
  }
}

describe("the fake server for Feishu, through the vendor's SDK", () => {
  it("refuses a wrong secret and a token that has run out", async () => {
    await using wrong = await open({}, "guess");
    await expect(wrong.client.im.v1.message.get({ path: { message_id: "om_1" } })).rejects.toThrow("10014");
    await using right = await open();
    expect((await right.send()).code).toBe(0);
    right.fakeServer.expireTokens();
    expect((await right.send()).code).toBe(99991663);
  });

  it("takes what Feishu takes and refuses what it refuses", async () => {
    await using bench = await open({ chats: ["oc_1"] });
    const { send, client } = bench;
    expect((await send()).code).toBe(0);
    expect((await send("not json")).code).toBe(230001);
    expect((await send('{"text":""}')).code).toBe(230001);
    expect((await send("{}", "hologram")).code).toBe(230001);
    expect((await send(JSON.stringify({ text: "x".repeat(150 * 1024) }))).code).toBe(230025);
    const post = (text: string) => JSON.stringify({ zh_cn: { content: [[{ tag: "md", text }]] } });
    expect((await send(post("**x**"), "post")).code).toBe(0);
    expect((await send(post("x".repeat(30 * 1024)), "post")).code).toBe(230025);
    expect((await send(JSON.stringify({ zh_cn: { content: [[{ tag: "h1" }]] } }), "post")).code).toBe(230001);
    expect((await send(JSON.stringify({ schema: "2.0" }), "interactive")).code).toBe(230099);
    const create = (receive_id: string, receive_id_type: "chat_id" | "open_id") =>
      outcome(
        client.im.v1.message.create({
          params: { receive_id_type },
          data: { receive_id, msg_type: "text", content: '{"text":"x"}' },
        }),
      );
    expect((await create("oc_other", "chat_id")).code).toBe(230002);
    expect((await create("oc_1", "open_id")).code).toBe(230001);
    expect((await create("", "chat_id")).code).toBe(99992402);
    const reply = client.im.v1.message.reply({
      path: { message_id: "om_nothing" },
      data: { msg_type: "text", content: '{"text":"x"}' },
    });
    expect((await outcome(reply)).code).toBe(230011);
  });

  it("sends once an hour under one uuid of at most 50 characters", async () => {
    await using bench = await open();
    const first = await bench.send(undefined, undefined, "k");
    expect(await bench.send(undefined, undefined, "k")).toEqual(first);
    bench.pass(3_599_000);
    expect(await bench.send(undefined, undefined, "k")).toEqual(first);
    bench.pass(2_000);
    expect((await bench.send(undefined, undefined, "k")).id).not.toBe(first.id);
    expect((await bench.send(undefined, undefined, "x".repeat(51))).code).toBe(230001);
    expect(bench.fakeServer.sent).toHaveLength(2);
  });

  it("holds to five messages a second and chat where asked to", async () => {
    await using bench = await open({ rateLimit: true });
    const codes: (number | undefined)[] = [];
    for (let count = 0; count < 6; count += 1) codes.push((await bench.send()).code);
    expect(codes).toEqual([0, 0, 0, 0, 0, 230020]);
    bench.pass(1000);
    expect((await bench.send()).code).toBe(0);
  });

  it("changes shared cards only, five times a second and for two weeks", async () => {
    await using bench = await open({ rateLimit: true });
    const { client, fakeServer, pass } = bench;
    const card = (words: string, config: unknown = { update_multi: true }) =>
      JSON.stringify({ schema: "2.0", config, body: { elements: [{ tag: "markdown", content: words }] } });
    const patch = async (id: string | undefined, content: string) =>
      (await outcome(client.im.v1.message.patch({ path: { message_id: id ?? "" }, data: { content } }))).code;
    const shared = (await bench.send(card("a"), "interactive")).id;
    const own = (await bench.send(card("a", {}), "interactive")).id;
    const plain = (await bench.send()).id;
    expect(await patch(plain, card("b"))).toBe(230001);
    expect(await patch(own, card("b"))).toBe(230001);
    expect(await patch(shared, card("b", {}))).toBe(230001);
    expect(await patch(shared, card("x".repeat(31_000)))).toBe(230025);
    for (let round = 0; round < 5; round += 1) expect(await patch(shared, card(`${round}`))).toBe(0);
    expect(await patch(shared, card("6"))).toBe(230020);
    pass(1000);
    // More than the twenty edits that a text may have.
    for (let round = 0; round < 20; round += 1) {
      expect(await patch(shared, card(`${round}`))).toBe(0);
      pass(250);
    }
    fakeServer.age(14 * 24 * 3_600_000);
    expect(await patch(shared, card("late"))).toBe(230031);
  });

  it("takes uploads within their limits, and shows each only as what it was uploaded as", async () => {
    await using bench = await open();
    const { client, fakeServer } = bench;
    const png = (width: number, bytes = 64) => {
      const made = Buffer.alloc(bytes);
      made.write("\x89PNG\r\n\x1a\n", "latin1");
      made.writeUInt32BE(width, 16);
      made.writeUInt32BE(1, 20);
      return made;
    };
    await using folder = await mkdtempDisposable(join(tmpdir(), "uploads-"));
    const path = join(folder.path, "upload");
    // Of bytes alone the SDK would make a field without a file name, which is no file to a server.
    const streamOf = async (bytes: Buffer) => {
      await writeFile(path, bytes);
      return createReadStream(path);
    };
    const image = async (bytes: Buffer) =>
      codeOf(client.im.v1.image.create({ data: { image_type: "message", image: await streamOf(bytes) } }));
    const file = async (bytes: Buffer, type: "stream" | "opus" | "mp4" = "stream", name = "a.txt") =>
      codeOf(
        client.im.v1.file.create({ data: { file_type: type, file_name: name, file: await streamOf(bytes) } }),
      );
    expect(await image(Buffer.alloc(0))).toBe(234010);
    expect(await image(Buffer.from("no picture"))).toBe(234011);
    expect(await image(png(12_001))).toBe(234039);
    expect(await image(png(1, 10 * 1024 * 1024 + 1))).toBe(234006);
    expect(await image(png(12_000, 10 * 1024 * 1024))).toBe("img_v3_1");
    expect(await file(Buffer.alloc(0))).toBe(234010);
    expect(await file(Buffer.from("x"), "stream", "")).toBe(234001);
    expect(await file(Buffer.alloc(30 * 1024 * 1024 + 1))).toBe(234006);
    expect(await file(Buffer.from("words"), "stream", "名字.txt")).toBe("file_v3_2");
    expect(await file(Buffer.from("sound"), "opus")).toBe("file_v3_3");

    const shows = async (type: string, content: object) =>
      (await bench.send(JSON.stringify(content), type)).code;
    expect(await shows("image", { image_key: "img_v3_1" })).toBe(0);
    expect(await shows("image", { image_key: "img_v3_9" })).toBe(230001);
    expect(await shows("file", { file_key: "file_v3_2" })).toBe(0);
    expect(await shows("audio", { file_key: "file_v3_2" })).toBe(230055);
    expect(await shows("file", { file_key: "file_v3_3" })).toBe(230055);
    expect(await shows("media", { file_key: "file_v3_3" })).toBe(230055);
    expect(await shows("audio", { file_key: "file_v3_3" })).toBe(0);
    const shown = fakeServer.sent.map((one) => fakeServer.upload(one));
    expect(shown.map((one) => one?.name)).toEqual(["", "名字.txt", "a.txt"]);
    expect(Buffer.from(shown[1]?.content ?? []).toString()).toBe("words");
  });

  it("breaks down as scripted: before, after, and without an answer", async () => {
    await using bench = await open();
    bench.fakeServer.fail({ kind: "status", method: "POST" });
    expect((await bench.send()).code).toBe(2200);
    expect(bench.fakeServer.sent).toHaveLength(0);
    bench.fakeServer.fail({ kind: "cut", method: "POST" });
    expect(await bench.send()).toEqual({ code: undefined, id: undefined });
    expect(bench.fakeServer.sent).toHaveLength(1);
  });

  it("knows the bot and its people", async () => {
    await using bench = await open();
    const user = await bench.client.contact.v3.user.get({
      path: { user_id: "ou_1" },
      params: { user_id_type: "open_id" },
    });
    expect(user.data?.user?.name).toBe("张三");
    expect(await bench.client.request({ method: "GET", url: "/open-apis/bot/v3/info" })).toMatchObject({
      bot: { open_id: "ou_bot" },
    });
  });

  it("dresses events so that the SDK's own dispatcher takes them", async () => {
    const encryptKey = "key";
    const seen: string[] = [];
    const dispatcher = new lark.EventDispatcher({
      encryptKey,
      logger: quiet,
      loggerLevel: lark.LoggerLevel.fatal,
    }).register({
      "im.message.receive_v1": (data) => void seen.push(data.message.message_id),
    });
    const sent = push(groupMention("hi", { openId: "ou_bot", name: "Bot" }, { messageId: "om_1" }), {
      encryptKey,
    });
    await dispatcher.invoke(Object.assign(Object.create({ headers: sent.headers }), JSON.parse(sent.body)));
    const forged = push(textMessage("hi", { messageId: "om_2" }), { encryptKey });
    const headers = { ...forged.headers, "x-lark-signature": sign("1", "2", "3", "4") };
    await dispatcher.invoke(Object.assign(Object.create({ headers }), JSON.parse(forged.body)));
    expect(seen).toEqual(["om_1"]);
  });
});
