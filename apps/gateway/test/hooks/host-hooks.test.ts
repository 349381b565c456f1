import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { createGateway, type GatewayHook, HOOK_POINTS } from "../../src/index.ts";
import { demoConfig, exampleConfig, openWorld, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const WRITE = { id: "toolu_1", name: "write", input: { file_path: "a.txt", content: "A" } };

describe("hooks of a host program", () => {
  it("are called at every point of the pipeline, in order", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    world.script([{ toolCalls: [WRITE] }, { text: "written" }]);
    const seen: string[] = [];
    const note = (text: string): void => {
      seen.push(text);
    };
    const hooks: GatewayHook[] = [
      {
        point: "message_received",
        name: "t",
        run: ({ decision, event }) => note(`message_received ${decision} ${event.messageId}`),
      },
      {
        point: "before_model_resolve",
        name: "t",
        run({ model, thinking }) {
          note(`before_model_resolve ${model} ${thinking}`);
          return { model: "anthropic/claude-haiku-4-5", thinking: "low" };
        },
      },
      {
        point: "before_prompt_build",
        name: "t",
        run({ model, extra }) {
          note(`before_prompt_build ${model}`);
          return {
            extra: [...extra, { name: "house", title: "House rules", text: "No shoes.", part: "volatile" }],
          };
        },
      },
      {
        point: "run_start",
        name: "t",
        run: ({ model, messageIds, goesOn }) => note(`run_start ${model} ${messageIds} ${goesOn}`),
      },
      { point: "turn_start", name: "t", run: ({ turn }) => note(`turn_start ${turn}`) },
      {
        point: "turn_end",
        name: "t",
        run: ({ turn, stopReason, text, tools }) => note(`turn_end ${turn} ${stopReason} ${text} ${tools}`),
      },
      {
        point: "before_tool_call",
        name: "t",
        run({ tool, args }) {
          note(`before_tool_call ${tool} ${JSON.stringify(args)}`);
          return undefined;
        },
      },
      {
        point: "after_tool_call",
        name: "t",
        run: ({ tool, outcome }) => note(`after_tool_call ${tool} ${outcome}`),
      },
      {
        point: "before_reply",
        name: "t",
        run({ text, source }) {
          note(`before_reply ${source} ${text}`);
          return { text: text.toUpperCase() };
        },
      },
      {
        point: "message_sent",
        name: "t",
        run: ({ message }) => note(`message_sent ${JSON.stringify(message.parts)}`),
      },
      {
        point: "run_end",
        name: "t",
        run: ({ outcome, messageIds }) => note(`run_end ${outcome} ${messageIds}`),
      },
    ];
    const started = await world.start({ hooks });
    await started.post(textMessage("write it", { senderId: ZHANG, messageId: "om_1" }));
    await started.settled();
    const { body } = await started.gateway.service.metrics();
    const lines = body.split("\n");
    expect(lines).toContain('signalbox_messages_total{channel="feishu",decision="answer"} 1');
    expect(lines).toContain('signalbox_replies_total{channel="feishu"} 1');
    for (const stage of ["route", "accept", "prepare", "conclude", "deliver"])
      expect(lines).toContain(`signalbox_stage_duration_seconds_count{stage="${stage}"} 1`);
    expect(lines).toContain("signalbox_queue_wait_seconds_count 1");
    expect(lines).toContain(
      'signalbox_model_turn_duration_seconds_count{model="anthropic/claude-haiku-4-5"} 2',
    );
    expect(lines).toContain('signalbox_outbox_age_seconds_count{channel="feishu"} 1');
    await started.stop();
    expect(seen.slice(0, 11)).toEqual([
      "message_received answer om_1",
      "before_model_resolve undefined off",
      "before_prompt_build anthropic/claude-haiku-4-5",
      "run_start anthropic/claude-haiku-4-5 om_1 false",
      "turn_start 1",
      'before_tool_call write {"file_path":"a.txt","content":"A"}',
      "after_tool_call write ok",
      "turn_end 1 tool_use  write",
      "turn_start 2",
      "turn_end 2 end_turn written ",
      "before_reply turn written",
    ]);
    expect(seen.slice(11).toSorted()).toEqual([
      'message_sent [{"type":"markdown","text":"WRITTEN"}]',
      "run_end replied om_1",
    ]);
    const [request] = modelRequests(world.anthropic);
    expect(request?.body.model).toBe("claude-haiku-4-5");
    expect(request?.body["thinking"]).toBeDefined();
    expect(request?.volatile).toContain("No shoes.");
    expect(world.feishu.sent.map(({ content }) => content)).toEqual([expect.stringContaining("WRITTEN")]);
  });

  it("are called for a compaction that a person requests", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { dm: "open", owners: [`feishu:${ZHANG}`] } }));
    const long = "word ".repeat(2_000);
    world.script(() => ({ text: long }));
    const seen: string[] = [];
    const hooks: GatewayHook[] = [
      {
        point: "compaction_start",
        name: "t",
        run: ({ reason, tokens }) => void seen.push(`start ${reason} ${tokens > 4_000}`),
      },
      {
        point: "compaction_end",
        name: "t",
        run: ({ source, tokens }) => void seen.push(`end ${source} ${tokens < 9_000}`),
      },
    ];
    const started = await world.start({ hooks });
    for (const [index, text] of ["one", "two", "three", "/compact"].entries()) {
      await started.post(textMessage(text, { senderId: ZHANG, messageId: `om_${index}` }));
      await started.settled();
    }
    await started.stop();
    expect(seen).toEqual(["start manual true", "end model true"]);
  });

  it.each<[string, GatewayHook["name"], () => never | { action: "deny"; reason: string }]>([
    ["denies", "Mondays only.", () => ({ action: "deny", reason: "Mondays only." })],
    [
      "breaks",
      "guard failed",
      () => {
        throw new Error("broken");
      },
    ],
  ])("a gate that %s keeps a tool from running, whoever wants it", async (_what, reason, run) => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        access: { dm: "open", owners: [`feishu:${ZHANG}`] },
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [{ id: "coder", tools: { allow: ["read"] } }],
        },
      }),
    );
    world.files({
      "secret.txt": "the canary",
      "skills/glance/SKILL.md":
        "---\nname: glance\ndescription: Look.\ncommand-dispatch: tool\ncommand-tool: read\n---\nRead it.\n",
    });
    const read = { id: "toolu_1", name: "read", input: { file_path: "secret.txt" } };
    world.script([{ toolCalls: [read] }, { text: "I could not" }]);
    const hook: GatewayHook = { point: "before_tool_call", name: "guard", run };
    const started = await world.start({ hooks: [hook] });
    for (const text of ["look", "/glance secret.txt"]) {
      await started.post(textMessage(text, { senderId: ZHANG, messageId: `om_${text.length}` }));
      await started.settled();
    }
    expect(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text).toContain(reason);
    const sent = world.feishu.sent.map(({ content }) => content);
    expect(sent).toEqual([expect.stringContaining("I could not"), expect.stringContaining(reason)]);
    expect(JSON.stringify([sent, world.anthropic.requests.map(({ text }) => text)])).not.toContain(
      "the canary",
    );
  });

  it("a gate puts other arguments in place of those of a call, which are checked again", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const outside = { ...WRITE, id: "toolu_2", input: { file_path: "b.txt", content: "B" } };
    world.script([{ toolCalls: [WRITE] }, { toolCalls: [outside] }, { text: "written" }]);
    const paths = ["changed.txt", "../outside.txt"];
    const hook: GatewayHook = {
      point: "before_tool_call",
      name: "mover",
      run: ({ args }) => ({
        action: "allow",
        change: { args: { ...Object(args), file_path: paths.shift() } },
      }),
    };
    const started = await world.start({ hooks: [hook] });
    await started.post(textMessage("write it", { senderId: ZHANG, messageId: "om_1" }));
    await started.settled();
    await started.stop();
    const [, first, second] = modelRequests(world.anthropic);
    expect(first?.messages.at(-1)?.text).toContain("changed.txt");
    // Policy judges what would run, not what the model asked for.
    expect(second?.messages.at(-1)?.text).toMatch(/outside the workspace|Not allowed/);
  });

  it("are called for the tool call of a skill's command", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({ agents: { defaults: {}, list: [{ id: "coder", tools: { allow: ["read"] } }] } }),
    );
    world.files({
      "note.txt": "the note",
      "skills/glance/SKILL.md":
        "---\nname: glance\ndescription: Look.\ncommand-dispatch: tool\ncommand-tool: read\n---\nRead it.\n",
    });
    const seen: unknown[] = [];
    const started = await world.start({
      hooks: [
        {
          point: "after_tool_call",
          name: "t",
          run: ({ tool, args, outcome, text }) =>
            void seen.push([tool, args, outcome, text.includes("the note")]),
        },
      ],
    });
    for (const file of ["note.txt", "gone.txt"]) {
      await started.post(textMessage(`/glance ${file}`, { senderId: ZHANG }));
      await started.settled();
    }
    expect(seen).toEqual([
      ["read", { file_path: "note.txt" }, "ok", true],
      ["read", { file_path: "gone.txt" }, "error", false],
    ]);
  });

  it("can change or suppress the answers of commands", async () => {
    const world = await openWorld();
    const quiet: GatewayHook = {
      point: "before_reply",
      name: "quiet",
      run: ({ source, text }) => ({
        text: source === "command" && text.startsWith("You are") ? "" : `${text}!`,
      }),
    };
    const gateway = await createGateway({ home: world.dir, config: demoConfig(), env: {}, hooks: [quiet] });
    try {
      const outcomes: unknown[] = [];
      for (const text of ["/whoami", "/stop"]) {
        const sent = await gateway.service.submit({
          channel: "web",
          agent: "main",
          conversation: "c",
          id: text.slice(1),
          text,
        });
        if (sent.kind === "accepted") outcomes.push(await sent.done);
      }
      expect(outcomes).toMatchObject([
        { state: "silent", text: "" },
        { state: "replied", text: "Nothing was running.!" },
      ]);
    } finally {
      await gateway.stop();
    }
  });

  it("are listed in the README with their kinds", () => {
    const readme = readFileSync(fileURLToPath(new URL("../../README.md", import.meta.url)), "utf8");
    const listed = [...readme.matchAll(/^\| `(\w+)` \| (observe|modify|block) \|/gm)];
    expect(Object.fromEntries(listed.map(([, point, kind]) => [point, kind]))).toEqual(
      Object.fromEntries(Object.entries(HOOK_POINTS).map(([point, { kind }]) => [point, kind])),
    );
  });
});
