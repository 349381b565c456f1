import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Outbound } from "@signalbox/channel";
import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { said } from "../support/feishu-talk.ts";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  LI,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

const WRITE = { id: "toolu_1", name: "write", input: { file_path: "a.txt", content: "one" } };

function config(shutdownMs: number, more: object = {}) {
  const gateway = { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs };
  return exampleConfig({ gateway, ...more });
}

const hello = (messageId: string) => textMessage(`hello ${messageId}`, { senderId: ZHANG, messageId });

function textOf(message: Outbound): string {
  return message.parts.map((part) => ("text" in part ? part.text : "")).join();
}

async function ends(world: World): Promise<unknown[]> {
  const rows = await inboxRows(world);
  return rows.map(({ messageId, state }) => [messageId, state]);
}

describe("a stop", () => {
  it("lets a run finish and sends its reply", async () => {
    const world = await openWorld();
    world.configure(config(120_000));
    const { reached, goOn } = pauseAt(world, 0, [{ text: "in time" }]);
    const child = await world.startChild();
    await child.post(hello("om_1"));
    await reached;
    const ended = child.end("SIGTERM");
    // Nothing more is taken: the platform is to come again.
    await eventually(async () => (await fetch(`${child.url}/readyz`)).status === 503, "no more is taken");
    expect((await child.post(hello("om_2"))).status).toBe(503);
    goOn();
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await ends(world)).toEqual([["om_1", "replied"]]);
    expect(world.feishu.sent.map(({ parentId }) => parentId)).toEqual(["om_1"]);
  });

  it("ends the process even if a hook left a handle open", async () => {
    const world = await openWorld();
    const folder = join(world.home.dir, "keeper");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{ "type": "module", "exports": "./index.js" }');
    writeFileSync(
      join(folder, "index.js"),
      "setInterval(() => {}, 1_000);\nexport default () => undefined;\n",
    );
    world.configure(config(1_000, { hooks: { keeper: { at: "message_received", module: "./keeper" } } }));
    const child = await world.startChild();
    expect(await child.end("SIGTERM")).toEqual({ code: 0, signal: null });
  });

  it("keeps a continued answer in one piece", async () => {
    const world = await openWorld();
    world.configure(config(300));
    const { reached } = pauseAt(world, 2, [
      { text: "The first half, ", stopReason: "max_tokens" },
      { text: "and the rest.", toolCalls: [WRITE] },
      {},
      { text: "Done." },
    ]);
    const first = await world.start();
    await first.post(hello("om_1"));
    await reached;
    await first.stop();
    const started = await world.start();
    await started.settled();
    expect(said(world).join()).toContain("The first half, and the rest.");
  });

  it("leaves a long run to the next start, which answers once", async () => {
    const world = await openWorld();
    world.configure(config(300));
    const { reached } = pauseAt(world, 1, [
      { toolCalls: [WRITE] },
      {},
      { text: "done" },
      { text: "and that" },
    ]);
    const child = await world.startChild();
    await child.post(hello("om_1"));
    await reached;
    await child.post(hello("om_2"));
    expect(await child.end("SIGTERM")).toEqual({ code: 0, signal: null });
    expect(world.feishu.sent).toEqual([]);

    const again = await world.start();
    await again.settled();
    await again.stop();
    expect(await ends(world)).toEqual([
      ["om_1", "replied"],
      ["om_2", "replied"],
    ]);
    // It goes on behind the tool's result, with both messages, and answers what the person asked.
    const last = modelRequests(world.anthropic).at(-1);
    expect(JSON.stringify(last?.body).match(/"tool_result"/g)).toHaveLength(1);
    expect(last?.messages.map(({ text }) => text).join("\n")).toMatch(/hello om_1[\s\S]*hello om_2/);
    const replies = world.feishu.sent.map(({ content }) => content);
    expect(replies.filter((content) => content.includes("done"))).toHaveLength(1);
    expect(new Set(world.feishu.sent.map(({ uuid }) => uuid)).size).toBe(world.feishu.sent.length);
  });

  it("informs waiting clients that the answer follows after the restart", async () => {
    const world = await openWorld();
    world.configure(config(0));
    const { reached } = pauseAt(world, 0, []);
    const { gateway } = await world.start();
    const message = { channel: "api", agent: "coder", conversation: "c", id: "m1", text: "hello" } as const;
    const first = await gateway.service.submit(message);
    await reached;
    const second = await gateway.service.submit(message);
    expect([first.kind, second.kind]).toEqual(["accepted", "duplicate"]);
    await gateway.stop();
    for (const submitted of [first, second])
      expect("done" in submitted && (await submitted.done)).toMatchObject({
        state: "failed",
        error: { code: "stopping", message: expect.stringContaining("after the restart") },
      });
  });

  it("shows the rest of its run to a viewer that reconnects when the next start has answered", async () => {
    const world = await openWorld();
    world.configure(config(0));
    const { reached, goOn } = pauseAt(world, 0, [{ text: "the rest" }, { text: "the rest" }]);
    const first = (await world.start()).gateway;
    const message = { channel: "web", agent: "coder", conversation: "c", id: "m1", text: "hello" } as const;
    await first.service.submit(message);
    await reached;
    const session = first.service.sessionKey("web", "coder", "c");
    const { cursor } = first.service.live.resume(session);
    await first.stop();
    goOn();
    const second = await world.start();
    await second.settled();
    const { events } = second.gateway.service.live.resume(session, cursor);
    expect(events.map(({ event }) => event.type)).toEqual(
      expect.arrayContaining(["run.start", "message", "run.end"]),
    );
  });

  it.each([
    ["stops are no crashes: the fourth start answers", false, "replied", /^fine$/],
    [
      "stops because of an exception are crashes: the fourth start sets it aside",
      true,
      "failed-reported",
      /set it aside/,
    ],
  ])("of a slow turn, three times: %s", async (_, faulty, state, text) => {
    const world = await openWorld();
    world.configure({ ...config(0), channels: { plain: { accounts: { main: {} } } } });
    let asked = Promise.withResolvers<void>();
    let slow = true;
    world.script(async () => {
      asked.resolve();
      if (slow) await new Promise(() => {});
      return { text: "fine" };
    });
    for (let start = 0; start < 3; start++) {
      asked = Promise.withResolvers();
      const plain = plainChannel();
      const started = await world.start({ channels: [plain.definition] });
      if (start === 0) await plain.emit(plainMessage("m1", "hello"));
      await asked.promise;
      // As a host sees it that stops its gateway in its own handler.
      if (faulty) process.emit("uncaughtExceptionMonitor", new Error("not caught"), "uncaughtException");
      await started.stop();
      expect(plain.sent).toEqual([]);
    }
    slow = false;
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    await started.settled();
    expect(plain.sent.map(({ message }) => textOf(message))).toEqual([expect.stringMatching(text)]);
    expect(await ends(world)).toEqual([["m1", state]]);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("by SIGINT and then %s ends at once", async (second) => {
    const world = await openWorld();
    world.configure(config(60_000));
    const { reached } = pauseAt(world, 0, []);
    const child = await world.startChild();
    await child.post(hello("om_1"));
    await reached;
    child.process.kill("SIGINT");
    await eventually(async () => (await fetch(`${child.url}/readyz`)).status === 503, "it is stopping");
    expect(await child.end(second)).toEqual({ code: second === "SIGINT" ? 130 : 143, signal: null });
  });
});

describe("a kill", () => {
  it("is not blamed on any of several runs in progress, however often it happens", async () => {
    const world = await openWorld();
    world.configure(config(1_000));
    let asked = 0;
    let slow = true;
    world.script(async () => {
      asked += 1;
      if (slow) await new Promise(() => {});
      return { text: "fine" };
    });
    // The fourth start would set a run aside that three deaths count against.
    for (let start = 0; start < 3; start += 1) {
      asked = 0;
      const child = await world.startChild();
      if (start === 0)
        for (const senderId of [ZHANG, LI])
          await child.post(
            textMessage("hello", { senderId, chatId: `oc_${senderId}`, messageId: `om_${senderId}` }),
          );
      await eventually(() => asked === 2, "both runs are in progress");
      await child.end("SIGKILL");
    }
    slow = false;
    const last = await world.start();
    await last.settled();
    await last.stop();
    expect(world.feishu.sent).toHaveLength(2);
    expect((await ends(world)).map((end) => [end].flat()[1])).toEqual(["replied", "replied"]);
  });

  it("during a run loses nothing: the next start resumes it and sends one reply", async () => {
    const world = await openWorld();
    world.configure(config(1_000));
    const { reached } = pauseAt(world, 1, [
      { toolCalls: [WRITE] },
      {},
      { text: "done" },
      { text: "and that" },
    ]);
    const child = await world.startChild();
    await child.post(hello("om_1"));
    await reached;
    await child.end("SIGKILL");
    const again = await world.start();
    await again.settled();
    await again.stop();
    expect(await ends(world)).toEqual([["om_1", "replied"]]);
    expect(world.feishu.sent.map(({ parentId }) => parentId)).toEqual(["om_1"]);
    const last = modelRequests(world.anthropic).at(-1);
    expect(last?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(last?.messages[0]?.text).toContain("signalbox.inbound_meta.v1");
    expect(last?.messages[2]?.text).toBe("Wrote a.txt (3 bytes)");
  });

  it("between a delivery and its confirmation sends the reply again with the same key", async () => {
    const world = await openWorld();
    world.configure(config(1_000));
    world.script([{ text: "once" }]);
    const child = await world.startChild();
    world.feishu.fail({ kind: "hang", method: "POST", path: "/reply" });
    await child.post(hello("om_1"));
    await eventually(() => world.feishu.sent.length === 1, "the platform has the reply");
    await child.end("SIGKILL");
    const again = await world.start();
    await again.settled();
    await again.stop();
    expect(world.feishu.sent).toHaveLength(1);
    expect(await ends(world)).toEqual([["om_1", "replied"]]);
    const [row] = await inStore(world, (store) => store.outbox.list({ states: ["sent"] }));
    expect(row?.receipts).toEqual([{ part: 0, receipt: { messageId: world.feishu.sent[0]?.messageId } }]);
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("while a command runs does not run it again, and the model sees an unknown outcome", async () => {
    const world = await openWorld();
    world.configure(
      config(1_000, { tools: { exec: { sandbox: "none" } }, access: { owners: [`feishu:${ZHANG}`] } }),
    );
    const command = "echo run >> runs.txt; sleep 10";
    world.script([
      { toolCalls: [{ id: "toolu_1", name: "exec", input: { command } }] },
      { text: "I looked." },
    ]);
    const child = await world.startChild();
    await child.post(hello("om_1"));
    const runs = join(world.home.workspace("coder"), "runs.txt");
    await eventually(() => existsSync(runs), "the command runs");
    await child.end("SIGKILL");
    const again = await world.start();
    await again.settled();
    await again.stop();
    expect(readFileSync(runs, "utf8")).toBe("run\n");
    expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).toMatch(/^Outcome unknown/);
    expect(world.feishu.sent).toHaveLength(1);
  });

  it("of a run with group history shows it again to the resumed run, and not to later ones", async () => {
    const world = await openWorld();
    world.configure(config(1_000));
    const { reached } = pauseAt(world, 0, [{}, { text: "plover" }, { text: "no more" }]);
    const child = await world.startChild();
    const group = { chatId: "oc_group", senderId: ZHANG };
    await child.post(textMessage("the word is plover", { ...group, messageId: "om_1", chatType: "group" }));
    await child.post(groupMention("what is it?", world.feishu.bot, { ...group, messageId: "om_2" }));
    await reached;
    await child.end("SIGKILL");
    const again = await world.start();
    await eventually(() => world.feishu.sent.length === 1, "the reply is there");
    await again.post(groupMention("and now?", world.feishu.bot, { ...group, messageId: "om_3" }));
    await again.settled();
    await again.stop();
    // The request that the kill cut off is not among these.
    const told = modelRequests(world.anthropic).map(({ body }) => JSON.stringify(body.messages));
    expect(told.map((text) => text.split("the word is plover").length - 1)).toEqual([1, 1]);
  });

  it("caused three times by the same message gives it up, and the next message is answered", async () => {
    const world = await openWorld();
    world.configure(config(1_000));
    let deadly = true;
    const reached: (() => void)[] = [];
    world.script(async () => {
      if (!deadly) return { text: "fine" };
      reached.shift()?.();
      await new Promise(() => {});
      return {};
    });
    for (let start = 0; start < 3; start++) {
      const asked = new Promise<void>((resolve) => reached.push(resolve));
      const child = await world.startChild();
      if (start === 0) await child.post(hello("om_1"));
      await asked;
      await child.end("SIGKILL");
    }
    const last = await world.start();
    await eventually(() => world.feishu.sent.length === 1, "the person is told");
    expect(world.feishu.sent[0]?.content).toMatch(/set it aside/);
    deadly = false;
    await last.post(hello("om_2"));
    await last.settled();
    expect(await ends(world)).toEqual([
      ["om_1", "failed-reported"],
      ["om_2", "replied"],
    ]);
  });
});
