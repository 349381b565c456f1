import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScriptedTurn } from "@signalbox/testkit";
import {
  appMention,
  buttonClick,
  channelMention,
  formSubmission,
  slashCommand,
  textMessage,
} from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { ASKING } from "../support/asking-config.ts";
import { ends, eventually, inboxRows, inStore } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { answersIn, DIRECT, GENERAL, openSlack, PERSON, textsIn } from "../support/slack-talk.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const person = { user: PERSON };
const direct = { ...person, channel: DIRECT };

function textOf(value: unknown): string {
  return JSON.stringify(value);
}

describe("Slack, through the gateway", () => {
  it("answers a direct message", async () => {
    const { world, slack, deliver } = await openSlack();
    world.script([{ text: "Hello, **张三**." }]);
    expect(await deliver(textMessage("hello", direct))).toBe(true);
    expect(textsIn(slack, DIRECT)).toEqual(["Hello, **张三**."]);
    expect(answersIn(slack, DIRECT)[0]?.content.blocks).toEqual([
      { type: "markdown", text: "Hello, **张三**." },
    ]);
    expect(textOf(modelRequests(world.anthropic)[0]?.body.messages)).toContain("张三: hello");
  });

  it("answers a mention in a new thread, continues there without mentions, and reads each message once", async () => {
    const { world, slack, deliver } = await openSlack();
    world.script(() => ({ text: "On Tuesday." }));
    await deliver(textMessage("We release soon.", { ...person, channelType: "channel" }));
    const ts = `${Math.floor(Date.now() / 1000)}.900000`;
    const mention = channelMention("when?", "U_BOT", { ...person, ts });
    await deliver(mention);
    await deliver(appMention(mention));
    expect(answersIn(slack, GENERAL)).toMatchObject([{ threadTs: ts }]);
    await deliver(
      textMessage("sure?", { ...person, channelType: "channel", threadTs: ts, parentUser: PERSON }),
    );
    expect(answersIn(slack, GENERAL).map(({ threadTs }) => threadTs)).toEqual([ts, ts]);
    expect(textOf(modelRequests(world.anthropic)[1]?.body.messages)).toContain("On Tuesday.");
    expect(await ends(world)).toEqual([
      ["ignored", "not_addressed"],
      ["replied", undefined],
      ["replied", undefined],
    ]);
  });

  it("routes by the workspace", async () => {
    const { world, deliver } = await openSlack({
      config: {
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [
            { id: "coder", tools: { allow: [] } },
            { id: "sales", tools: { allow: [] } },
          ],
        },
        bindings: [{ agent: "sales", match: { channel: "slack", teamId: "T_SALES" } }],
      },
    });
    world.script(() => ({ text: "Here." }));
    await deliver(textMessage("one", direct));
    await deliver(
      textMessage("two", {
        ...direct,
        user: "U_LI",
        channel: "D_LI",
        teamId: "T_SALES",
        enterpriseId: "E_1",
      }),
    );
    const sessions = await inStore(world, (store) => store.sessions.list());
    expect(sessions.map(({ key }) => key.split(":")[1]).toSorted()).toEqual(["coder", "sales"]);
  });

  it("requests approval with buttons, and an owner's click decides", async () => {
    const { world, slack, deliver, push, started } = await openSlack();
    const write = { name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
    world.script([{ toolCalls: [{ id: "toolu_soul", ...write }] }, { text: "as you say" }]);
    await deliver(textMessage("the motto is: be bold", { user: "U_OTHER", channelType: "channel" }));
    await push(channelMention("write the motto down", "U_BOT", { ...person }));
    await eventually(
      () => slack.sent.some(({ content }) => buttonsOf(content).length > 0),
      "the question is put",
    );
    const question = slack.sent.find(({ content }) => buttonsOf(content).length > 0);
    if (question === undefined) return;
    expect(question.shown.at(-1)).toContain("the agent coder wants to use write");
    const [allow, deny] = buttonsOf(question.content);
    expect([allow?.["action_id"], deny?.["action_id"]].every((id) => typeof id === "string")).toBe(true);
    const action = { id: String(allow?.["action_id"]), value: String(allow?.["value"]) };
    const place = { ...person, channel: GENERAL, threadTs: question.threadTs ?? "" };
    expect(await push(buttonClick(question.ts, action, place))).toBe(true);
    await eventually(() => textsIn(slack, GENERAL).includes("as you say"), "the run goes on");
    await started.settled();
    const put = () => slack.sent.find(({ ts }) => ts === question.ts);
    await eventually(() => put()?.isEdited === true, "the question shows that it is decided");
    expect(put()?.shown.at(-1)).toMatch(/wants to use write[\s\S]*\n\nAllowed\.$/);
    expect(buttonsOf(put()?.content ?? {})).toEqual([]);
    expect(answersIn(slack, GENERAL).every(({ threadTs }) => threadTs === question.threadTs)).toBe(true);
  });

  it("accepts a free-text answer through a form, and continues with it", async () => {
    const { world, slack, deliver, push, started } = await openSlack({ config: { agents: ASKING } });
    const input = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };
    world.script([{ toolCalls: [{ id: "toolu_ask", name: "ask_user", input }] }, { text: "As you like." }]);
    await push(textMessage("make me a drink", direct));
    await eventually(() => answersIn(slack, DIRECT).length > 0, "the question is put");
    const [question] = answersIn(slack, DIRECT);
    const other = buttonsOf(question?.content ?? {}).at(-1);
    const button = {
      id: String(other?.["action_id"]),
      label: "Other answer",
      value: String(other?.["value"]),
    };
    await push(buttonClick(question?.ts ?? "", button, direct));
    const [view] = slack.views;
    if (view === undefined) throw new Error("no form was opened");
    await deliver(formSubmission(view, "neither, thank you", { user: PERSON }));
    await started.settled();
    expect(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text).toBe(
      "They answered: neither, thank you",
    );
    expect(textsIn(slack, DIRECT)[0]).toContain("Answered: neither, thank you");
    expect(textsIn(slack, DIRECT)[1]).toBe("As you like.");
  });

  it("answers a slash command", async () => {
    const { slack, deliver } = await openSlack();
    expect(await deliver(slashCommand("/signalbox", "status", direct))).toBe(true);
    expect(textsIn(slack, DIRECT)).toHaveLength(1);
  });

  it("streams a long answer, and continues it in more messages after Slack has ended the stream", async () => {
    const { world, slack, deliver } = await openSlack({
      fakeServer: { streamMs: 300 },
      start: { drafts: { afterMs: 0, everyMs: 0 } },
    });
    const paragraph = "It looks around, and then it **writes** what it has seen. ".repeat(40);
    const long = Array.from({ length: 8 }, (_, index) => `## Part ${index}\n\n${paragraph}`).join("\n\n");
    const slowly: ScriptedTurn = { text: long, chunks: 24, deltaMs: 100 };
    world.script([slowly]);
    await deliver(channelMention("tell me all", "U_BOT", person));
    const answers = answersIn(slack, GENERAL);
    expect(answers.length).toBe(2);
    expect(slack.called.filter((method) => method === "chat.startStream")).toHaveLength(1);
    expect(slack.called.filter((method) => method === "chat.update").length).toBeGreaterThan(0);
    expect(answers[0]?.shown.length).toBeGreaterThan(2);
    const shown = answers.map((one) => one.shown.at(-1)).join("\n\n");
    expect(shown.replace(/\s+/g, " ")).toBe(long.replace(/\s+/g, " ").trim());
  });

  it("shows the model an image, and sends a file", async () => {
    const { world, slack, deliver } = await openSlack();
    mkdirSync(world.home.workspace("coder"), { recursive: true });
    writeFileSync(join(world.home.workspace("coder"), "report.csv"), "a,b\n1,2\n");
    world.script([{ text: "Here you are.\nMEDIA:report.csv" }]);
    const file = slack.addFile({ id: "F_CHART", name: "chart.png", mimeType: "image/png", content: PNG });
    await deliver(textMessage("what is this?", { ...direct, files: [file] }));
    expect(textOf(modelRequests(world.anthropic)[0]?.body.messages)).toContain(PNG.toString("base64"));
    expect(textsIn(slack, DIRECT)).toEqual(["Here you are.", undefined]);
    const sent = slack.files.filter(({ share }) => share !== undefined);
    expect(sent.map(({ name, content }) => [name, Buffer.from(content).toString()])).toEqual([
      ["report.csv", "a,b\n1,2\n"],
    ]);
  });

  it("reads messages sent while its sockets were lost and while it was down", async () => {
    const { world, slack, deliver, started } = await openSlack();
    world.script(() => ({ text: "Yes." }));
    await deliver(textMessage("before", direct));
    slack.sockets.drop();
    slack.plant({ channel: DIRECT, user: PERSON, text: "while no socket stood", clientMsgId: "m-1" });
    await eventually(() => textsIn(slack, DIRECT).length === 2, "what was missed is answered");
    await started.stop();
    slack.plant({ channel: DIRECT, user: PERSON, text: "while it was down", clientMsgId: "m-2" });
    const again = await world.start();
    await eventually(() => textsIn(slack, DIRECT).length === 3, "what came while it was down is answered");
    await again.settled();
    expect((await inboxRows(world)).map(({ state }) => state)).toEqual(["replied", "replied", "replied"]);
  });

  it("finds a reply whose delivery was uncertain, and does not send it twice", async () => {
    const { world, slack, deliver } = await openSlack();
    world.script([{ text: "Once." }]);
    slack.fail({ kind: "cut" });
    await deliver(textMessage("say it", direct));
    await eventually(() => slack.called.includes("conversations.history"), "it is looked for");
    expect(textsIn(slack, DIRECT)).toEqual(["Once."]);
    expect(await ends(world)).toEqual([["replied", undefined]]);
  });

  it("never answers another bot", async () => {
    const { world, slack, push, started } = await openSlack({
      config: { access: { dm: "open", groups: { mode: "open", requireMention: false } } },
    });
    world.script(() => ({ text: "And you?" }));
    const bot = { user: "U_OTHER", botId: "B_OTHER" };
    for (let round = 0; round < 25; round += 1) await push(channelMention("how are you?", "U_BOT", bot));
    await started.settled();
    expect(answersIn(slack, GENERAL)).toEqual([]);
    expect(await ends(world)).toEqual(Array.from({ length: 25 }, () => ["ignored", "bot"]));
  });

  it("answers a mention by a bot if allowed, and pauses if the two bots loop", async () => {
    const { world, slack, deliver } = await openSlack({
      config: { access: { dm: "open", groups: { mode: "open", bots: "mentioned" } } },
    });
    world.script(() => ({ text: "And you?" }));
    const bot = { user: "U_OTHER", botId: "B_OTHER", threadTs: "1790000000.000100" };
    for (let round = 0; round < 25; round += 1) await deliver(channelMention("well?", "U_BOT", bot));
    expect(textsIn(slack, GENERAL)).toEqual(Array(20).fill("And you?"));
    expect((await ends(world)).slice(20)).toEqual(Array(5).fill(["ignored", "bot_loop"]));
  });
});

type Blocks = NonNullable<ReturnType<typeof answersIn>[number]["content"]["blocks"]>;

function buttonsOf({ blocks = [] }: { readonly blocks?: Blocks }): readonly Record<string, unknown>[] {
  const actions = blocks.find(({ type }) => type === "actions");
  return Array.isArray(actions?.["elements"]) ? actions["elements"] : [];
}
