import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedTurn } from "@signalbox/testkit";
import { messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { exampleConfig, inStore, LI, openWorld, type World, ZHANG } from "../support/harness.ts";
import { cacheMarks, fences, modelRequests } from "../support/model-requests.ts";

const QUESTION = "帮我写一个 Python 脚本,功能是遍历当前目录所有文件";
const MESSAGE = "om_6123456789abcdefghijklmnopqrstu";
const CHAT = "oc_7654321098765432109876543210";
const SESSION = `agent:coder:feishu:direct:${ZHANG}`;
/** The event of the example, as short as it is there: without an event id, an app or a time. */
const EVENT = {
  header: { event_type: "im.message.receive_v1" },
  event: {
    sender: { sender_id: { open_id: ZHANG }, sender_type: "user" },
    message: {
      message_id: MESSAGE,
      chat_id: CHAT,
      chat_type: "p2p",
      message_type: "text",
      content: JSON.stringify({ text: QUESTION }),
    },
  },
};
const SKILL =
  "# create-python-script\n当用户请求创建 Python 脚本时使用本 Skill。\n## 步骤\n1. 用 `ls` 查看当前目录结构。\n2. 用 `write` 创建 `.py` 文件。\n";
const SCRIPT =
  '#!/usr/bin/env python3\nimport os\n\nfor root, dirs, files in os.walk("."):\n    print(root)\n';
const CALLS = [
  {
    id: "toolu_01ABCDEFGHIJKLMNOPQRSTUV",
    name: "read",
    input: { file_path: "./skills/create-python-script/SKILL.md" },
  },
  { id: "toolu_02BCDEFGHIJKLMNOPQRSTUVW", name: "ls", input: { path: "." } },
  {
    id: "toolu_03CDEFGHIJKLMNOPQRSTUVWX",
    name: "write",
    input: { file_path: "list_files.py", content: SCRIPT },
  },
] as const;
const ANSWER = "已经帮你创建了 `list_files.py`。\n\n运行方式：\n```bash\npython list_files.py\n```";
const TURNS: readonly ScriptedTurn[] = [
  ...CALLS.map((call) => ({ toolCalls: [call], usage: { input: 1000, output: 20, cacheRead: 800 } })),
  { text: ANSWER, usage: { input: 1200, output: 60, cacheRead: 1100 } },
];

async function example(more: readonly ScriptedTurn[] = []): Promise<World> {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.files({
    "README.md": "# Scripts\n",
    "requirements.txt": "requests\n",
    "scripts/.keep": "",
    "tests/.keep": "",
    "skills/create-python-script/SKILL.md": SKILL,
  });
  world.script([...TURNS, ...more]);
  return world;
}

describe("a message on Feishu", () => {
  it("causes a skill, two tools, a file and a reply", async () => {
    const world = await example();
    const started = await world.start();
    expect(started.problems).toEqual([]);
    const answered = await started.post(EVENT);
    expect(answered.status).toBe(200);
    await started.settled();

    const requests = modelRequests(world.anthropic);
    expect(requests).toHaveLength(4);
    const [first] = requests;
    if (!first) throw new Error("no request");

    // Exactly the allowed tools, in Anthropic's own format.
    for (const { tools, body } of requests) {
      expect(tools).toEqual(["read", "write", "edit", "ls", "exec", "message"]);
      expect(cacheMarks(body)).toBeGreaterThan(0);
      expect(cacheMarks(body)).toBeLessThanOrEqual(4);
    }
    expect(first.body.tools.find(({ name }) => name === "read")?.input_schema).toMatchObject({
      properties: { file_path: { type: "string" } },
      required: ["file_path"],
    });
    expect(first.body.model).toBe("claude-sonnet-4-6");

    // The boundary is the end of the first system block, and a breakpoint stands there.
    expect(first.body.system.map((one) => one.cache_control !== undefined)).toEqual([true, false]);
    const headings = (text: string) => [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(headings(first.stable)).toEqual([
      "Tooling",
      "Execution",
      "Safety",
      "Skills",
      "Workspace",
      "Documentation",
      "Output directives",
      "Silent replies",
    ]);
    expect(headings(first.volatile)).toEqual(["Messaging", "Runtime"]);
    expect(first.stable).toContain("你是一个全栈开发助手");
    expect(first.stable).toContain("<name>create-python-script</name>");
    expect(first.stable).toContain("<location>./skills/create-python-script/SKILL.md</location>");
    for (const volatile of [ZHANG, "张三", MESSAGE, CHAT, SESSION, "feishu:direct"])
      expect(first.stable).not.toContain(volatile);
    expect(first.volatile).toContain(`session=${SESSION}`);

    // Trusted metadata, untrusted blocks, then the body; the same in every request of this turn.
    const [asked] = first.messages;
    const [meta, conversation, sender] = fences(asked?.text ?? "");
    expect(meta).toEqual({
      schema: "signalbox.inbound_meta.v1",
      time: expect.any(String),
      channel: "feishu",
      provider: "feishu",
      surface: "feishu",
      chat_type: "direct",
      role: "member",
    });
    expect(conversation).toMatchObject({
      chat_id: CHAT,
      message_id: MESSAGE,
      sender_id: ZHANG,
      sender: "张三",
      is_group_chat: false,
      was_mentioned: false,
    });
    expect(sender).toEqual({ label: "张三", id: ZHANG });
    const body = `[message_id: ${MESSAGE}]\n张三: ${QUESTION}`;
    expect(asked?.text.endsWith(`\n\n${body}`)).toBe(true);
    for (const request of requests) {
      expect(request.stable).toBe(first.stable);
      expect(request.volatile).toBe(first.volatile);
      expect(request.messages[0]).toEqual(asked);
    }

    // read, ls, write, text: each result goes back under its call's id.
    const results = requests.slice(1).map(({ body: { messages } }) => messages.at(-1)?.content);
    expect(results).toEqual([
      [expect.objectContaining({ type: "tool_result", tool_use_id: CALLS[0].id })],
      [expect.objectContaining({ type: "tool_result", tool_use_id: CALLS[1].id })],
      [expect.objectContaining({ type: "tool_result", tool_use_id: CALLS[2].id })],
    ]);
    expect(requests.slice(1).map(({ messages }) => messages.at(-1)?.text)).toEqual([
      SKILL,
      "README.md\nrequirements.txt\nscripts/\nskills/\ntests/\n",
      `Wrote list_files.py (${SCRIPT.length} bytes)`,
    ]);
    expect(requests[3]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
    expect(readFileSync(join(world.home.workspace("coder"), "list_files.py"), "utf8")).toBe(SCRIPT);

    // The reply, through the SDK, to the message, with the key of its outbox row, as Feishu renders it.
    const kept = await inStore(world, async (store) => ({
      session: await store.sessions.get(SESSION),
      messages: (await store.sessions.transcript(SESSION)).toReversed(),
      inbox: await store.inbox.list(),
      outbox: await store.outbox.list({ states: ["pending", "sending", "sent", "uncertain", "dead"] }),
    }));
    const [row] = kept.outbox;
    expect(world.feishu.sent).toEqual([
      expect.objectContaining({ parentId: MESSAGE, chatId: CHAT, msgType: "post", uuid: `${row?.key}.0` }),
    ]);
    const [sent] = world.feishu.sent;
    expect(JSON.parse(sent?.content ?? "")).toEqual({
      zh_cn: { content: [[{ tag: "md", text: ANSWER }]] },
    });

    // Everything of it is in the database.
    expect(kept.session).toMatchObject({
      agentId: "coder",
      channel: "feishu",
      account: "main",
      peer: ZHANG,
      kind: "direct",
    });
    expect(kept.messages.map(({ message }) => message.role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
      "assistant",
      "toolResult",
      "assistant",
    ]);
    expect(kept.messages[0]?.message).toMatchObject({ role: "user", content: body });
    expect(
      kept.messages.flatMap(({ message }) => (message.role === "toolResult" ? [message.details] : [])),
    ).toEqual([
      {},
      {
        entries: expect.arrayContaining([
          { name: "README.md", type: "file" },
          { name: "scripts", type: "folder" },
        ]),
      },
      { bytesWritten: SCRIPT.length, path: "list_files.py" },
    ]);
    const [message] = kept.inbox;
    expect(message).toMatchObject({
      state: "replied",
      messageId: MESSAGE,
      route: { agentId: "coder", sessionKey: SESSION },
    });
    expect(row).toMatchObject({
      state: "sent",
      runId: message?.runId,
      sessionKey: SESSION,
      payload: { replyTo: MESSAGE },
      receipts: [{ part: 0, receipt: { messageId: sent?.messageId } }],
    });
    expect(kept.session?.totals).toMatchObject({
      runs: 1,
      modelCalls: 4,
      outputTokens: 120,
      cacheReadTokens: 3500,
    });
    expect(kept.session?.totals.costMicros).toBeGreaterThan(0);
  });

  it("is followed by the next one with the whole history, also after a restart", async () => {
    const world = await example([{ text: "第二个回答" }, { text: "第三个回答" }]);
    const first = await world.start();
    await first.post(EVENT);
    await first.settled();
    await first.post(textMessage("再解释一下", { messageId: "om_second", chatId: CHAT, senderId: ZHANG }));
    await first.settled();
    await first.stop();
    const again = await world.start();
    await again.post(textMessage("谢谢", { messageId: "om_third", chatId: CHAT, senderId: ZHANG }));
    await again.settled();

    const requests = modelRequests(world.anthropic);
    expect(requests).toHaveLength(6);
    const [second, third] = requests.slice(4);
    for (const { body } of requests) expect(cacheMarks(body)).toBeLessThanOrEqual(4);
    const plain = `[message_id: ${MESSAGE}]\n张三: ${QUESTION}`;
    expect(second?.messages[0]?.text.endsWith(plain)).toBe(true);
    expect(second?.messages.slice(0, 7)).toEqual(requests[3]?.messages);
    expect(second?.messages[7]).toEqual({ role: "assistant", text: ANSWER });
    expect(fences(second?.messages[8]?.text ?? "")).toHaveLength(3);
    expect(second?.messages[8]?.text.endsWith("[message_id: om_second]\n张三: 再解释一下")).toBe(true);

    // The restart changes nothing: the same history, one turn longer, and the same prompt.
    expect(third?.messages.slice(0, 9)).toEqual(second?.messages);
    expect(third?.messages[9]).toEqual({ role: "assistant", text: "第二个回答" });
    expect(third?.messages.filter(({ text }) => text.includes("signalbox.inbound_meta"))).toHaveLength(3);
    expect(third?.stable).toBe(requests[0]?.stable);
    expect(third?.volatile).toBe(requests[0]?.volatile);
    expect(world.feishu.sent.map(({ parentId }) => parentId)).toEqual([MESSAGE, "om_second", "om_third"]);
    // Who 张三 is was asked once by each process.
    expect(
      world.feishu.requests.filter(({ path }) => path.includes(`/contact/v3/users/${ZHANG}`)),
    ).toHaveLength(2);
  });

  it("shows the current workspace files before the cache boundary", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.files({
      "AGENTS.md": "Answer in haiku.\n",
      "TOOLS.md": "Use `ls` first.\n",
      "other.md": "not shown\n",
    });
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    await started.post(textMessage("一", { senderId: ZHANG }));
    await started.settled();
    await started.stop();
    world.files({ "AGENTS.md": "Answer in prose.\n" });
    const again = await world.start();
    await again.post(textMessage("二", { senderId: ZHANG }));
    await again.settled();
    const [first, second] = modelRequests(world.anthropic);
    expect(first?.stable).toMatch(
      /AGENTS\.md[\s\S]*Answer in haiku\.[\s\S]*TOOLS\.md[\s\S]*Use `ls` first\./,
    );
    expect(first?.stable).not.toContain("not shown");
    expect(first?.volatile).not.toContain("haiku");
    expect(second?.stable).toBe(first?.stable.replace("haiku", "prose"));
  });

  it("keeps the prompt before the boundary after untrusted content", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    for (const event of [
      textMessage("一", { senderId: ZHANG }),
      messageEvent("merge_forward", "Merged and Forwarded Message", { senderId: ZHANG }),
      textMessage("三", { senderId: ZHANG }),
    ]) {
      await started.post(event);
      await started.settled();
    }
    const requests = modelRequests(world.anthropic);
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ stable }) => stable)).size).toBe(1);
    expect(new Set(requests.map(({ tools }) => tools.join())).size).toBe(1);
  });

  it("has the same prompt before the boundary for every sender, place and time", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script(() => ({ text: "好" }));
    const started = await world.start();
    await started.post(textMessage("一", { senderId: ZHANG, chatId: "oc_a", at: Date.UTC(2026, 0, 1) }));
    await started.settled();
    await started.post(textMessage("二", { senderId: LI, chatId: "oc_b", at: Date.UTC(2026, 6, 1) }));
    await started.settled();
    await started.post(textMessage("三", { senderId: ZHANG, chatId: "oc_a" }));
    await started.settled();
    const requests = modelRequests(world.anthropic);
    expect(requests).toHaveLength(3);
    expect(new Set(requests.map(({ stable }) => stable)).size).toBe(1);
    expect(new Set(requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1);
    expect(requests[1]?.volatile).toContain(LI);
    // One conversation never sees another.
    expect(JSON.stringify(requests[1]?.body)).not.toContain("张三");
    expect(requests[2]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(world.feishu.requests.filter(({ path }) => path.includes("/contact/v3/users/"))).toHaveLength(2);
  });
});
