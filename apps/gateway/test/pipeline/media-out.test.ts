import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "@signalbox/home";
import { createRedactor } from "@signalbox/redaction";
import { createLogger } from "@signalbox/telemetry/logger";
import { groupMention, messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { createAgentWorkspaces, createMemoryLabelStore, openFileLabels } from "@signalbox/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createMedia } from "../../src/agent/media.ts";
import { indexAgents } from "../../src/configure/agents.ts";
import { openClientFiles } from "../../src/configure/client-files.ts";
import { createWebFetch } from "../../src/configure/web-fetch.ts";
import { eventually, exampleConfig, inStore, openWorld, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { serve } from "../support/site.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

function put(world: World, path: string, content: string | Buffer): string {
  const file = join(world.home.workspace("coder"), path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const content = z.looseObject({
  text: z.string().optional(),
  zh_cn: z.object({ content: z.array(z.array(z.looseObject({ text: z.string() }))) }).optional(),
  // Where the answer took long enough to be shown while it was written.
  body: z.object({ elements: z.array(z.looseObject({ content: z.string() })) }).optional(),
});

/** What a person sees, in order: words, or the name and content of an attachment. */
function seen(world: World): string[] {
  return world.feishu.sent.map((one) => {
    const upload = world.feishu.upload(one);
    if (upload)
      return `${one.msgType} ${upload.name}: ${Buffer.from(upload.content).toString("latin1").slice(0, 20)}`;
    const words = one.edits.at(-1) ?? one.content;
    const body = content.parse(JSON.parse(words));
    return body.text ?? body.zh_cn?.content[0]?.[0]?.text ?? body.body?.elements[0]?.content ?? words;
  });
}

async function ask(world: World, script: Parameters<World["script"]>[0]) {
  world.configure(exampleConfig());
  world.script(script);
  const started = await world.start();
  await started.post(textMessage("send it", { senderId: ZHANG, messageId: "om_asked" }));
  await started.settled();
  return started;
}

describe("attachments of a reply", () => {
  it("follow its text as messages of their own kind", async () => {
    const world = await openWorld();
    put(world, "out/chart.png", PNG);
    put(world, "报告.csv", "a,b\n1,2\n");
    await ask(world, [{ text: "Here you are.\nMEDIA:out/chart.png\nMEDIA:./报告.csv" }]);
    expect(seen(world)).toEqual([
      "Here you are.",
      expect.stringMatching(/^image : .PNG/),
      "file 报告.csv: a,b\n1,2\n",
    ]);
    expect(world.feishu.sent[0]?.parentId).toBe("om_asked");
    const kept = readdirSync(world.home.mediaDir);
    expect(kept).toContain(createHash("sha256").update(PNG).digest("hex"));
    expect(kept).toHaveLength(2);
    for (const name of kept) expect(statSync(join(world.home.mediaDir, name)).mode & 0o777).toBe(0o600);
  });

  it("may be the whole reply, and may be a voice message", async () => {
    const world = await openWorld();
    const page = Buffer.concat([
      Buffer.from("OggS\0\x02"),
      Buffer.alloc(20),
      Buffer.from("\x01\x13OpusHead"),
      Buffer.alloc(11),
    ]);
    put(world, "said.ogg", page);
    await ask(world, [{ text: "[[audio_as_voice]]\nMEDIA:said.ogg" }]);
    expect(world.feishu.sent.map((one) => one.msgType)).toEqual(["audio"]);
    const [row] = await inStore(world, (store) => store.outbox.list({ states: ["sent"] }));
    expect(row?.payload.parts).toMatchObject([
      { type: "media", kind: "audio", voice: true, mimeType: "audio/ogg" },
    ]);
    expect(JSON.stringify(row?.payload).length).toBeLessThan(1_000);
  });

  it("come only from the workspace, and unsendable ones are named while the rest is sent", async () => {
    const world = await openWorld();
    const workspace = world.home.workspace("coder");
    put(world, "good.txt", "good");
    put(world, "empty.txt", "");
    put(world, "huge.bin", Buffer.alloc(31_457_281));
    writeFileSync(join(world.dir, "secret.txt"), "canary");
    writeFileSync(join(world.home.dir, "token"), "canary");
    symlinkSync(join(world.dir, "secret.txt"), join(workspace, "link.txt"));
    symlinkSync(world.home.dir, join(workspace, "home"));
    mkdirSync(join(workspace, "folder"));
    const sources = [
      "../../token",
      `${world.home.dir}/token`,
      `${world.home.dir}/signalbox.db`,
      "/etc/passwd",
      "file:///etc/passwd",
      "link.txt",
      "home/token",
      "folder",
      "empty.txt",
      "absent.txt",
      "huge.bin",
      "https://example.com/page",
      "good.txt",
    ];
    const halves = [sources.slice(0, 6), sources.slice(6)];
    world.configure(exampleConfig());
    world.script(
      halves.map((half) => ({ text: ["Look:", ...half.map((one) => `MEDIA:${one}`)].join("\n") })),
    );
    const started = await world.start();
    for (const id of ["om_1", "om_2"]) {
      await started.post(textMessage("send it", { senderId: ZHANG, messageId: id }));
      await started.settled();
    }
    const outside = "was not sent: it is outside the agent's workspace";
    expect(seen(world)).toEqual([
      [
        "Look:\n",
        `[file: token ${outside}]`,
        `[file: token ${outside}]`,
        `[file: signalbox.db ${outside}]`,
        `[file: passwd ${outside}]`,
        "[file: passwd was not sent: the file does not exist]",
        `[file: link.txt ${outside}]`,
      ].join("\n"),
      [
        "Look:\n",
        `[file: token ${outside}]`,
        "[file: folder was not sent: it is not a regular file]",
        "[file: empty.txt was not sent: it is empty]",
        "[file: absent.txt was not sent: the file does not exist]",
        "[file: huge.bin was not sent: it is 30.1 MB, and at most 30 MB can be sent here]",
        "https://example.com/page",
      ].join("\n"),
      "file good.txt: good",
    ]);
    expect(readdirSync(world.home.mediaDir)).toHaveLength(1);
  });

  it("cannot contain the agent's memory for guests, as with its tools", async () => {
    const world = await openWorld();
    put(world, "MEMORY.md", "canary");
    put(world, "open.txt", "open");
    world.configure(exampleConfig());
    world.script([{ text: "MEDIA:MEMORY.md\nMEDIA:open.txt" }, { text: "MEDIA:MEMORY.md" }]);
    const started = await world.start();
    const mention = groupMention("send it", { openId: "ou_bot", name: "Bot" }, { senderId: "ou_other" });
    await started.post(mention);
    await started.settled();
    expect(seen(world)).toEqual([
      "[file: MEMORY.md was not sent: the file does not exist]",
      "file open.txt: open",
    ]);
    await started.post(textMessage("send it", { senderId: ZHANG, messageId: "om_member" }));
    await started.settled();
    expect(seen(world)[2]).toBe("file MEMORY.md: canary");
  });

  it("are the same bytes at every attempt, also after a kill and if the file was removed", async () => {
    const world = await openWorld();
    const file = put(world, "a.txt", "as it was");
    world.configure(exampleConfig());
    world.script([{ text: "Here:\nMEDIA:a.txt" }]);
    world.feishu.fail({ kind: "status", method: "POST", path: "/im/v1/files", times: 1_000 });
    const first = await world.startChild();
    await first.post(textMessage("send it", { senderId: ZHANG, messageId: "om_asked" }));
    const tried = () => world.feishu.requests.some((one) => one.path.endsWith("/im/v1/files"));
    await eventually(tried, "the upload is tried");
    await first.end("SIGKILL");
    rmSync(file);
    writeFileSync(file, "something else");
    world.feishu.heal();
    const second = await world.start();
    await second.settled();
    expect(seen(world)).toEqual(["Here:", "file a.txt: as it was"]);
  });

  it("follow a reply that was a draft, and stand alone if it had no text", async () => {
    const world = await openWorld();
    put(world, "a.txt", "one");
    world.configure(exampleConfig());
    const slowly = { chunks: 12, deltaMs: 40 };
    world.script([
      { text: "First some words, then some more.\nMEDIA:a.txt", ...slowly },
      { text: "MEDIA:a.txt", ...slowly },
    ]);
    const started = await world.start({ drafts: { afterMs: 0, everyMs: 0 } });
    for (const id of ["om_1", "om_2"]) {
      await started.post(textMessage("send it", { senderId: ZHANG, messageId: id }));
      await started.settled();
    }
    const [draft, ...rest] = world.feishu.sent.filter((one) => !one.deleted);
    expect(draft?.msgType).toBe("interactive");
    expect(draft?.edits.at(-1)).toContain("First some words, then some more.");
    expect(draft?.edits.join()).not.toContain("a.txt");
    expect(rest.map((one) => world.feishu.upload(one)?.name)).toEqual(["a.txt", "a.txt"]);
  });

  it("become a line of text if the platform rejects them or their bytes are missing", async () => {
    const world = await openWorld();
    put(world, "a.txt", "one");
    put(world, "b.txt", "two");
    world.feishu.fail({ kind: "code", code: 234006, method: "POST", path: "/im/v1/files" });
    const started = await ask(world, [{ text: "Both:\nMEDIA:a.txt\nMEDIA:b.txt" }]);
    expect(seen(world)).toEqual([
      "Both:",
      "[file: a.txt was not sent: the platform rejected it]",
      "file b.txt: two",
    ]);
    expect(started.log()).toContain("the platform rejected an attachment");
    const [row] = await inStore(world, (store) => store.outbox.list({ states: ["sent"] }));
    expect(row?.receipts).toHaveLength(3);
  });

  it("can be taken away by a hook with the text", async () => {
    const world = await openWorld();
    put(world, "a.txt", "one");
    world.configure(exampleConfig());
    world.script([{ text: "Secret\nMEDIA:a.txt" }]);
    const started = await world.start({
      hooks: [{ point: "before_reply", name: "hush", run: () => ({ text: "" }) }],
    });
    await started.post(textMessage("send it", { senderId: ZHANG, messageId: "om_asked" }));
    await started.settled();
    expect(world.feishu.sent).toEqual([]);
  });
});

describe("attachments from the web", () => {
  async function ask(world: World, allow: (host: string) => string[], event: object) {
    await using server = await serve((request, response) => {
      if (request.url === "/login") response.setHeader("content-type", "text/html");
      response.end(request.url === "/login" ? "<form>" : "bytes");
    });
    world.configure(exampleConfig({ tools: { web: { allow: allow(server.host) } } }));
    world.script([{ text: `MEDIA:${server.url}/a/data.csv?key=1\nMEDIA:${server.url}/login` }]);
    const started = await world.start();
    await started.post(event);
    await started.settled();
    return { url: server.url, asked: server.requests.map((one) => one.url) };
  }

  it("are downloaded by the gateway, and a page stays a link", async () => {
    const world = await openWorld();
    const { url, asked } = await ask(world, (host) => [host], textMessage("send it", { senderId: ZHANG }));
    expect(seen(world)).toEqual([`${url}/login`, "file data.csv: bytes"]);
    expect(asked).toEqual(["/a/data.csv?key=1", "/login"]);
  });

  it("are never downloaded from internal addresses, nor for a tainted run", async () => {
    const inside = await openWorld();
    const { url, asked } = await ask(inside, () => [], textMessage("send it", { senderId: ZHANG }));
    expect(seen(inside)).toEqual([`${url}/a/data.csv?key=1\n${url}/login`]);
    expect(asked).toEqual([]);

    const tainted = await openWorld();
    tainted.feishu.plant({
      messageId: "om_other",
      chatId: "oc_group",
      msgType: "text",
      content: JSON.stringify({ text: "told by others" }),
      senderId: "ou_other",
    });
    const forwarded = messageEvent("merge_forward", "Merged and Forwarded Message", { senderId: ZHANG });
    const { url: link, asked: none } = await ask(tainted, (host) => [host], forwarded);
    expect(seen(tainted)).toEqual([`${link}/a/data.csv?key=1\n${link}/login`]);
    expect(none).toEqual([]);
  });
});

describe("attachments of the message tool", () => {
  const call = (input: object) => ({ toolCalls: [{ name: "message", input: { action: "send", ...input } }] });

  it("are sent once, even if the reply names them again", async () => {
    const world = await openWorld();
    put(world, "a.txt", "one");
    await ask(world, [call({ message: "Here", media: ["a.txt"] }), { text: "Here\nMEDIA:a.txt" }]);
    expect(seen(world)).toEqual(["Here", "file a.txt: one"]);
  });

  it("are sent all together or not at all, and the model gets the reason", async () => {
    const world = await openWorld();
    put(world, "a.txt", "one");
    await ask(world, [call({ message: "Here", media: ["a.txt", "../b.txt"] }), { text: "Sorry." }]);
    expect(seen(world)).toEqual(["Sorry."]);
    const told = modelRequests(world.anthropic)[1]?.messages.at(-1)?.text;
    expect(told).toContain(
      "Nothing was sent. [file: b.txt was not sent: it is outside the agent's workspace]",
    );
  });
});

it("reports an attachment that was committed before a crash as sent, even if its file was removed", async () => {
  const world = await openWorld();
  const file = put(world, "a.txt", "as it was");
  world.configure(exampleConfig());
  const input = { action: "send", message: "Here", media: ["a.txt"] };
  world.script([{ toolCalls: [{ name: "message", input }] }, { text: "__SILENT__" }]);
  const first = await world.startTuned({ SIGNALBOX_FAILPOINT: "enqueue.after:1:kill" });
  await first.post(textMessage("send it", { senderId: ZHANG, messageId: "om_asked" }));
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  rmSync(file);
  const second = await world.start();
  await second.settled();
  expect(seen(world)).toEqual(["Here", "file a.txt: as it was"]);
  expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).toContain("on its way");
});

it("keeps a blob only as long as a row may need it", async () => {
  const world = await openWorld();
  put(world, "sent.txt", "sent");
  put(world, "waits.txt", "waits");
  world.configure(exampleConfig());
  world.script([{ text: "MEDIA:sent.txt" }, { text: "MEDIA:waits.txt" }]);
  const started = await world.start();
  await started.post(textMessage("one", { senderId: ZHANG, messageId: "om_1" }));
  await started.settled();
  world.feishu.fail({ kind: "code", code: 230002, method: "POST", times: 1_000 });
  await started.post(textMessage("two", { senderId: ZHANG, messageId: "om_2" }));
  await started.settled();
  await started.stop();
  const { mediaDir } = world.home;
  for (const name of readdirSync(mediaDir)) utimesSync(join(mediaDir, name), 1, 1);
  expect(readdirSync(mediaDir)).toHaveLength(2);
  await inStore(world, async (store) => {
    const logger = createLogger("silent", createRedactor([]));
    const { config } = readConfig(world.home, world.env);
    const agents = { defaultId: "coder", problems: [], ...indexAgents([]) };
    const media = createMedia(
      {
        config: { current: () => ({ settings: config, agents }) },
        env: {},
        home: world.home,
        store,
        objects: undefined,
        getAccount: () => undefined,
        web: createWebFetch(config),
        clientFiles: openClientFiles(world.home, { logger, now: Date.now }),
        logger,
        now: Date.now,
      },
      { workspaces: createAgentWorkspaces({ labels: await openFileLabels(createMemoryLabelStore()) }) },
    );
    await media.prune();
    expect((await store.outbox.list()).map((row) => row.state)).toEqual(["dead"]);
  });
  expect(readdirSync(mediaDir)).toEqual([createHash("sha256").update("waits").digest("hex")]);
});
