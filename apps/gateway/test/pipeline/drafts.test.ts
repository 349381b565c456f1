import type { ScriptedTurn } from "@signalbox/testkit";
import { groupMention, type SentMessage, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";

/** Every change as soon as there is one. */
const AT_ONCE = { afterMs: 0, everyMs: 0 };
/** Slow enough that several changes fit in. */
const slowly = (text: string, chunks = 12): ScriptedTurn => ({ text, chunks, deltaMs: 40 });

const LONG = "First it looks around, then it **writes** the script, and in the end it runs it for you.";

/** What people saw of a message, in order. */
function shown(message: SentMessage | undefined): string[] {
  return [message?.content ?? "{}", ...(message?.edits ?? [])].map((content) => {
    const { text, zh_cn, body } = JSON.parse(content);
    const [element] = body?.elements ?? [];
    return text ?? zh_cn?.content[0][0].text ?? element?.text?.content ?? element?.content ?? "";
  });
}

/** What is at the platform now. */
function standing({ feishu }: World): string[] {
  return feishu.sent.filter((one) => !one.deleted).map((one) => shown(one).at(-1) ?? "");
}

async function open(replies?: unknown, drafts = AT_ONCE, hooks: Parameters<World["start"]>[0] = {}) {
  const world = await openWorld();
  world.configure(exampleConfig(replies === undefined ? {} : { replies }));
  const started = await world.start({ drafts, ...hooks });
  const ask = (text: string) => started.post(textMessage(text, { senderId: ZHANG, messageId: "om_asked" }));
  return { world, started, ask };
}

describe("an answer that is written slowly", () => {
  it("grows in one message and becomes the reply", async () => {
    const { world, started, ask } = await open();
    world.script([slowly(LONG)]);
    await ask("how?");
    await eventually(() => standing(world).join() === LONG, "the answer is there");
    await started.settled();
    const [sent, ...more] = world.feishu.sent;
    expect(more).toEqual([]);
    expect(sent).toMatchObject({ msgType: "interactive", parentId: "om_asked" });
    const seen = shown(sent);
    expect(seen.length).toBeGreaterThan(2);
    for (const text of seen) expect(LONG.startsWith(text)).toBe(true);
    expect(seen.map((text) => text.length)).toEqual(
      seen.map((text) => text.length).toSorted((a, b) => a - b),
    );
    // Nothing is kept of a draft that has become its reply.
    expect(await inStore(world, (store) => store.kv.list("draft"))).toEqual([]);
  });

  it("has no draft if it is complete before one is due", async () => {
    const { world, started, ask } = await open(undefined, { afterMs: 600_000, everyMs: 0 });
    world.script([slowly(LONG)]);
    await ask("how?");
    await eventually(() => world.feishu.sent.length === 1, "the answer is there");
    await started.settled();
    expect(world.feishu.sent[0]).toMatchObject({ msgType: "post", edits: [] });
  });

  it("is completed in several messages if one is too short", async () => {
    const { world, started, ask } = await open();
    const long = Array.from({ length: 900 }, (_, index) => `Line ${index} of a long answer, 一行。`).join(
      "\n\n",
    );
    world.script([slowly(long, 20)]);
    await ask("how?");
    await eventually(() => standing(world).join("\n\n") === long, "all of the answer is there");
    await started.settled();
    const [first, ...rest] = world.feishu.sent;
    expect(rest.map((one) => one.msgType)).not.toContain("interactive");
    expect(shown(first).some((text) => text.endsWith("…"))).toBe(true);
  });

  it("never shows the first characters of silence or of a directive", async () => {
    const { world, started, ask } = await open();
    world.script([
      { text: "__SILENT__", chunks: 10, deltaMs: 10 },
      { text: "[[reply_to_current]] MEDIA is a word.", chunks: 37, deltaMs: 5 },
    ]);
    await ask("be quiet");
    await started.settled();
    expect(world.feishu.sent).toEqual([]);
    await started.post(textMessage("speak", { senderId: ZHANG }));
    await eventually(() => standing(world).join() === "MEDIA is a word.", "the answer is there");
    for (const text of shown(world.feishu.sent[0])) expect(text).toMatch(/^MEDIA/);
  });

  it("shows the texts around tool calls, and nothing of the calls", async () => {
    const { world, started, ask } = await open();
    world.files({ "a.txt": "a" });
    world.script([
      {
        ...slowly("Let me look at that file first."),
        toolCalls: [{ name: "read", input: { file_path: "a.txt" } }],
      },
      { ...slowly("It holds one letter."), delayMs: 60 },
    ]);
    await ask("what is in it?");
    const whole = "Let me look at that file first.\n\nIt holds one letter.";
    await eventually(() => standing(world).join() === whole, "the answer is there");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    for (const text of shown(world.feishu.sent[0])) expect(whole.startsWith(text)).toBe(true);
  });

  it("continues in the same message if the run is steered", async () => {
    const { world, started, ask } = await open();
    world.script(async (_, index) => {
      if (index > 0) return slowly("And here is the other thing you asked for.");
      await ask("how?");
      return { ...slowly("Here is the first thing."), toolCalls: [{ name: "ls", input: {} }] };
    });
    await started.post(textMessage("what?", { senderId: ZHANG, messageId: "om_first" }));
    await eventually(() => world.feishu.sent.length === 1, "it grows");
    const whole = "Here is the first thing.\n\nAnd here is the other thing you asked for.";
    await eventually(() => standing(world).join() === whole, "the answer is there");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    expect(world.feishu.sent[0]?.parentId).toBe("om_first");
    const rows = await inboxRows(world);
    expect(rows.map(({ state }) => state)).toEqual(["replied", "replied"]);
  });

  it("is removed if the run ends silently", async () => {
    const { world, started, ask } = await open();
    const said = "Here is what I found.";
    world.script([
      { ...slowly(said), toolCalls: [{ name: "message", input: { action: "send", message: said } }] },
      { text: "__SILENT__" },
    ]);
    await ask("tell me");
    await started.settled();
    await eventually(() => world.feishu.sent.length === 2, "both were there");
    expect(standing(world)).toEqual([said]);
    expect(world.feishu.sent.find((one) => one.deleted)?.msgType).toBe("interactive");
  });

  it("does not repeat text that the message tool has sent", async () => {
    const { world, started, ask } = await open();
    world.script([
      { toolCalls: [{ name: "message", input: { action: "send", message: LONG } }] },
      slowly(LONG),
    ]);
    await ask("tell me");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    expect(standing(world)).toEqual([LONG]);
  });

  it("becomes the error notice if the model fails", async () => {
    const { world, started, ask } = await open();
    world.script([{ ...slowly(LONG), fault: { kind: "cut", afterEvents: 9 } }]);
    await ask("how?");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    expect(shown(world.feishu.sent[0]).length).toBeGreaterThan(1);
    expect(standing(world).join()).toContain("Sorry, I could not answer");
  });

  it("keeps its visible text when it is stopped", async () => {
    const { world, started, ask } = await open();
    world.script([
      { text: LONG.repeat(20), chunks: 200, deltaMs: 20, fault: { kind: "stall", afterEvents: 100 } },
    ]);
    await ask("how?");
    await eventually(() => (world.feishu.sent[0]?.edits.length ?? 0) > 1, "it grows");
    await started.post(textMessage("/stop", { senderId: ZHANG }));
    await eventually(() => standing(world).some((text) => text.endsWith("(stopped)")), "it is marked");
    await started.settled();
    const [draft, answer, ...more] = standing(world);
    expect(more).toEqual([]);
    expect(answer).toContain("Stopped.");
    const [read = ""] = (draft ?? "").split("\n\n(stopped)");
    expect(read.length).toBeGreaterThan(10);
    expect(LONG.repeat(20).startsWith(read)).toBe(true);
  });

  it("names an attachment that could not be sent in its text", async () => {
    const { world, started, ask } = await open();
    world.files({ "a.txt": "a" });
    const read = [{ name: "read", input: { file_path: "a.txt" } }];
    world.script([
      { text: "The report is done.\nMEDIA:a.txt", toolCalls: read },
      { text: LONG.repeat(20), chunks: 200, deltaMs: 20, fault: { kind: "stall", afterEvents: 100 } },
    ]);
    await ask("how?");
    await eventually(() => standing(world).join().includes(LONG.slice(0, 20)), "it grows");
    await started.post(textMessage("/stop", { senderId: ZHANG }));
    await eventually(() => standing(world).some((text) => text.endsWith("(stopped)")), "it is marked");
    await started.settled();
    expect(standing(world)[0]).toMatch(/^The report is done\.\n\[file: a\.txt\]\n\nFirst it looks around/);
    expect(shown(world.feishu.sent[0]).slice(0, -1).join()).not.toContain("a.txt");
  });
});

describe("settings and hooks", () => {
  const inGroup = async (world: World, started: Awaited<ReturnType<World["start"]>>) => {
    await started.post(groupMention("how?", world.feishu.bot, { senderId: ZHANG }));
    await eventually(() => standing(world).length === 1, "the answer is there");
    await started.settled();
    return world.feishu.sent[0]?.edits.length ?? 0;
  };

  it.each([
    ["off", 0],
    ["direct", 0],
    ["draft", 1],
  ])("in a group, %s", async (stream, least) => {
    const { world, started } = await open({ stream });
    world.script([slowly(LONG)]);
    const changes = await inGroup(world, started);
    expect(standing(world)).toEqual([LONG]);
    if (least === 0) expect(changes).toBe(0);
    else expect(changes).toBeGreaterThanOrEqual(least);
  });

  it("shows no text before a hook has seen it", async () => {
    const { world, started, ask } = await open(undefined, AT_ONCE, {
      hooks: [
        {
          point: "before_reply",
          name: "hush",
          run: ({ text }) => ({ text: text.replace("script", "****") }),
        },
      ],
    });
    world.script([slowly(LONG)]);
    await ask("how?");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    expect(world.feishu.sent[0]).toMatchObject({ edits: [] });
    expect(standing(world)).toEqual([LONG.replace("script", "****")]);
  });
});

describe("a platform with failures", () => {
  it("gets a normal reply if a draft cannot be opened", async () => {
    const { world, started, ask } = await open();
    world.feishu.fail({ kind: "code", code: 230099, method: "POST" });
    world.script([slowly(LONG)]);
    await ask("how?");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
    expect(world.feishu.sent[0]).toMatchObject({ msgType: "post", edits: [] });
    expect(standing(world)).toEqual([LONG]);
  });

  it("gets a normal reply in place of a draft that cannot be edited", async () => {
    const { world, started, ask } = await open();
    world.feishu.fail({ kind: "code", code: 200750, path: "/cardkit/v1/cards/", times: 1_000 });
    world.script([slowly(LONG)]);
    await ask("how?");
    await eventually(() => standing(world).join() === LONG, "the answer is there");
    await started.settled();
    expect(world.feishu.sent.map((one) => [one.msgType, one.deleted])).toEqual([
      ["interactive", true],
      ["post", false],
    ]);
  });

  it("is retried while its responses are lost, and has one message in the end", async () => {
    const { world, started, ask } = await open();
    world.feishu.fail({ kind: "cut", method: "POST" });
    world.feishu.fail({ kind: "cut", method: "PATCH", times: 2 });
    world.script([slowly(LONG)]);
    await ask("how?");
    await eventually(() => standing(world).join() === LONG, "the answer is there");
    await started.settled();
    expect(world.feishu.sent).toHaveLength(1);
  });

  it("is not called more often than it allows", async () => {
    const { world, started, ask } = await open();
    world.feishu.setRateLimit(true);
    world.script([{ text: LONG.repeat(3), chunks: 100, deltaMs: 20 }]);
    await ask("how?");
    await eventually(() => standing(world).join() === LONG.repeat(3), "the answer is there");
    await started.settled();
    expect(started.log()).not.toContain("frequency limit");
    expect(world.feishu.sent[0]?.edits.length).toBeGreaterThan(2);
  });
});
