import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import { OWNED, textsIn } from "../support/feishu-talk.ts";
import { eventually, exampleConfig, openWorld, type World, ZHANG } from "../support/harness.ts";

const ABOVE = "I will read my notes and tell you what they say.";
const BELOW = "My notes say that everything is well.";
const slowly = (text: string): ScriptedTurn => ({ text, chunks: 6, deltaMs: 40 });

/** An agent that asks before it reads, and answers slowly enough for drafts. */
async function open() {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: OWNED,
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["read", "ask_user"], ask: { read: "always" } } }],
      },
    }),
  );
  const drafts = { afterMs: 0, everyMs: 0 };
  const started = await world.start({ drafts });
  const post = (text: string) => started.post(textMessage(text, { senderId: ZHANG }));
  return { world, started, post, restart: () => world.start({ drafts }) };
}

/** The messages of the conversation, as they are now. */
function getConversation({ feishu }: World): string[] {
  return feishu.sent.flatMap(({ content, edits, deleted }) =>
    deleted ? [] : [textsIn(JSON.parse(edits.at(-1) ?? content)).join("\n")],
  );
}

const read = { id: "toolu_read", name: "read", input: { file_path: "AGENTS.md" } };
const asked = { id: "toolu_ask", name: "ask_user", input: { question: "Which notes?" } };

it("the answer after an approval appears below the request, and the text before it remains above", async () => {
  const { world, started, post } = await open();
  world.script([{ ...slowly(ABOVE), toolCalls: [read] }, slowly(BELOW)]);
  await post("what do your notes say?");
  await eventually(() => getConversation(world).length === 2, "the request is sent");
  const [above, request = ""] = getConversation(world);
  expect(above).toBe(ABOVE);
  const [, id = ""] = /Approval (\w{8}):/.exec(request) ?? [];
  await post(`/approve ${id} allow`);
  await eventually(() => getConversation(world).includes(BELOW), "the answer is there");
  await started.settled();
  const conversation = getConversation(world);
  expect(conversation.filter((text) => text.includes("I will read"))).toEqual([ABOVE]);
  expect(conversation.indexOf(BELOW)).toBeGreaterThan(1);
  expect(conversation.filter((text) => text.includes("everything is well"))).toEqual([BELOW]);
});

it("the answer after a question of the agent appears below the question, also after a restart", async () => {
  const { world, started, post, restart } = await open();
  world.script([{ ...slowly(ABOVE), toolCalls: [asked] }, slowly(BELOW)]);
  await post("what do your notes say?");
  await eventually(() => getConversation(world).length === 2, "the question is sent");
  await started.stop();
  const again = await restart();
  await again.post(textMessage("all of them", { senderId: ZHANG }));
  await eventually(() => getConversation(world).includes(BELOW), "the answer is there");
  await again.settled();
  const [above, question, ...rest] = getConversation(world);
  expect([above, rest]).toEqual([ABOVE, [BELOW]]);
  expect(question).toContain("Which notes?");
});
