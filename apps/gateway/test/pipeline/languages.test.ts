import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, openWorld, type Started, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

let messages = 0;

async function ask(started: Started, text: string): Promise<void> {
  messages += 1;
  await started.post(textMessage(text, { senderId: ZHANG, messageId: `om_${messages}` }));
  await started.settled();
}

function said(world: World): string[] {
  return world.feishu.sent.map(({ content }) => JSON.parse(content).text ?? content);
}

describe("the gateway's own texts", () => {
  it("are in the language of the message if the agent has none", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script(Array(2).fill({ error: { status: 401 } }));
    const started = await world.start();
    await ask(started, "帮我整理会议纪要");
    await ask(started, "tidy up the minutes");
    expect(said(world)).toEqual([
      "抱歉，无法回答：模型服务商拒绝了本网关的账户。所有者可发送 /why 查看原因。",
      "Sorry, I could not answer: the model provider rejected this gateway's account. Owners see the reason with /why.",
    ]);
  });

  it("answer a command in the language of its sender's earlier messages", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ text: "好的" }, { error: { status: 401 } }]);
    const started = await world.start();
    await ask(started, "/stop");
    await ask(started, "帮我整理会议纪要");
    await ask(started, "/stop");
    await ask(started, "再来一次");
    await ask(started, "/why");
    await ask(started, "/new");
    const [stop, , stopAgain, , why, begun] = said(world);
    expect([stop, stopAgain, begun]).toEqual([
      "Nothing was running.",
      "当前没有正在进行的运行。",
      "已开始新对话。",
    ]);
    expect(why).toContain("“再来一次”：智能体“coder”未能回答该消息：模型服务商拒绝了 API 密钥（auth）。");
  });

  it("state the reason of an approval request in its language, and in English in the audit log", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({ access: { owners: [`feishu:${ZHANG}`] }, tools: { exec: { ask: "always" } } }),
    );
    world.script([
      { toolCalls: [{ id: "toolu_1", name: "exec", input: { command: "date" } }] },
      { text: "好" },
    ]);
    const started = await world.start();
    await started.post(textMessage("现在几点", { senderId: ZHANG, messageId: "om_asking" }));
    await eventually(() => world.feishu.sent.length > 0, "the question is put");
    expect(JSON.stringify(world.feishu.sent[0]?.content)).toContain(
      "智能体 coder 要使用 exec。根据配置，每次使用 exec 都需要审批。",
    );
    const why = await world.command(["why", "om_asking", "--details"]);
    expect(why.out).toContain("The configuration requires approval for every use of exec.");
  });

  it("name a file that is not sent or cannot be trusted", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { owners: [`feishu:${ZHANG}`] } }));
    world.script([{ text: "给你。\nMEDIA:缺少.txt\nMEDIA:/etc/passwd" }]);
    const started = await world.start();
    await ask(started, "把文件发给我");
    for (const path of ["缺少.txt", "../外面.txt"]) await ask(started, `/trust ${path}`);
    const [reply, ...refusals] = said(world);
    expect(reply).toContain("[文件：缺少.txt 未发送：文件不存在]");
    expect(reply).toContain("[文件：passwd 未发送：不在智能体的工作区内]");
    expect(refusals).toEqual([
      "缺少.txt 中没有他人写入的内容。",
      "../外面.txt 不在工作区内，请使用相对于工作区的路径。",
    ]);
  });

  it("are in the agent's language, whatever the message's, with unchanged command names", async () => {
    const world = await openWorld();
    const agents = { defaults: { model: "anthropic/claude-sonnet-4-6", language: "zh" } };
    world.configure(exampleConfig({ agents }));
    const started = await world.start();
    for (const text of ["/stop", "/new", "/help", "/whyy me"]) await ask(started, text);
    const [stopped, begun, help, unknown] = said(world);
    expect(unknown).toBe(
      "没有命令 /whyy。发送 /help 可查看全部命令。如需将其作为普通文本发给智能体，请在前面加上文字。",
    );
    expect(modelRequests(world.anthropic)).toEqual([]);
    expect(stopped).toBe("当前没有正在进行的运行。");
    expect(begun).toBe("已开始新对话。");
    expect(help).toContain("/stop – 停止当前的运行");
    expect(help).toContain("/answer <编号> <答案> – ");
    for (const line of help?.split("\\n") ?? []) expect(line).toMatch(/\p{Script=Han}/u);
  });
});
