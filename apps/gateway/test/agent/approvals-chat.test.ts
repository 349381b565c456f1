import type { ScriptedTurn } from "@signalbox/testkit";
import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, open, said } from "../support/feishu-talk.ts";
import {
  eventually,
  exampleConfig,
  LI,
  openWorld,
  type Started,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage, said as words } from "../support/plain-channel.ts";

describe("approvals", () => {
  const identity = { name: "write", input: { file_path: "SOUL.md", content: "Be bold. ``` end" } };
  const group = (senderId: string) => ({ ...from(senderId), chatType: "group" as const, chatId: "oc_group" });

  /** A turn that has seen what others said in the group, and wants to change the agent's own notes. */
  async function until(world: World, started: Started): Promise<string> {
    world.script([{ toolCalls: [{ id: "toolu_soul", ...identity }] }, { text: "as you say" }]);
    await started.post(textMessage("the new motto is: be bold", group(LI)));
    await started.post(groupMention("write the motto down", world.feishu.bot, group(ZHANG)));
    await eventually(() => said(world).length > 0, "the question is put");
    const [question = ""] = said(world);
    expect(question).toContain("the agent coder wants to use write");
    expect(question).toContain("content from history");
    expect(question).toContain("+++ SOUL.md\n@@ -0,0 +1,1 @@\n+Be bold. ``` end");
    return /Approval (\w{8}):/.exec(question)?.[1] ?? "";
  }

  /** The question as it was changed last. */
  const endOf = (world: World) => world.feishu.sent[0]?.edits.at(-1);

  it.each([
    ["allow", false, "as you say"],
    ["deny", true, "as you say"],
  ])("%s decides about the call that waits, when an owner says so", async (answer, isError, reply) => {
    const { world, started } = await open();
    const id = await until(world, started);
    await started.post(textMessage(`/approve ${id} ${answer}`, from(LI)));
    await eventually(() => said(world).length > 1, "the member is answered");
    await started.post(textMessage("/approve", from(ZHANG)));
    await eventually(() => said(world).length > 2, "the owner sees what is open");
    expect(modelRequests(world.anthropic)).toHaveLength(1);
    await started.post(textMessage(`/approve ${id.toLowerCase()} ${answer}`, from(ZHANG)));
    await started.settled();
    const [question, refused, open_, ...rest] = said(world);
    expect(refused).toBe("Only owners may use /approve.");
    const commands = `:\n1. /approve ${id} allow\n2. /approve ${id} deny`;
    expect(open_?.endsWith(commands)).toBe(true);
    expect(question).toBe(`${open_?.slice(0, -commands.length)}.\nAllow\nDeny`);
    expect(question).toContain(`Asked for by \`feishu:${ZHANG}\` in \`oc_group\` on feishu.`);
    expect(rest.toSorted()).toEqual(
      [`${answer === "allow" ? "Allowed" : "Denied"}: write, approval ${id}.`, reply].toSorted(),
    );
    const results = modelRequests(world.anthropic)[1]?.body.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter(({ type }) => type === "tool_result"),
    );
    expect(results).toMatchObject([isError ? { is_error: true } : { tool_use_id: "toolu_soul" }]);
    await ask(started, `/approve ${id} allow`);
    expect(said(world).at(-1)).toBe(`Approval ${id} was already decided.`);
  });

  it("a member's request goes to the owner in a direct message, whose decision ends the wait", async () => {
    const { world, started } = await open({
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [{ id: "coder", tools: { allow: ["read"], ask: { read: "always" } } }],
      },
    });
    const read = { id: "toolu_read", name: "read", input: { file_path: "AGENTS.md" } };
    world.script([{ toolCalls: [read] }, { text: "I have read it" }]);
    await started.post(textMessage("read your notes", from(LI)));
    await eventually(() => said(world).length > 1, "both are asked");
    const toMember = said(world).find((text) => text.includes("am waiting for an owner")) ?? "";
    const [, id = ""] = /Approval (\w{8}):/.exec(toMember) ?? [];
    expect(toMember).not.toContain("Allow");
    const index = said(world).findIndex((text) => text.endsWith("Allow\nDeny"));
    expect(said(world)[index]).toContain(`Approval ${id}: the agent coder wants to use read`);
    expect(world.feishu.sent[index]?.chatId).toBe(`oc_of_${ZHANG}`);
    await started.post(textMessage(`/approve ${id} allow`, from(ZHANG)));
    await started.settled();
    expect(said(world)).toContain("I have read it");
    await eventually(
      () => world.feishu.sent[index]?.edits.at(-1)?.includes("Allowed.") === true,
      "it is marked",
    );
  });

  it("/stop ends a turn that waits for one", async () => {
    const { world, started } = await open();
    await until(world, started);
    await started.post(groupMention("/stop", world.feishu.bot, group(ZHANG)));
    await started.settled();
    expect(said(world).at(-1)).toBe("Stopped.");
    expect(modelRequests(world.anthropic)).toHaveLength(1);
  });

  it("a request that expires loses its buttons and shows that it expired", async () => {
    let ahead = 0;
    const { world, started } = await open({}, { now: () => Date.now() + ahead });
    await until(world, started);
    ahead = 600_000;
    await started.settled();
    await eventually(() => endOf(world)?.includes("Expired.") === true, "the question shows its end");
    expect(endOf(world)).not.toContain("Deny");
  });

  it("a request from before a restart loses its buttons, and the resumed call asks again", async () => {
    const { world, started } = await open();
    await until(world, started);
    await started.stop();
    await world.start();
    await eventually(() => endOf(world)?.includes("Expired.") === true, "the question shows its end");
    await eventually(() => said(world)[1]?.endsWith("Allow\nDeny") === true, "it is put anew");
  });

  it("an agent can edit its own messages, but not a quoted approval request", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        channels: { plain: { accounts: { main: {} } } },
        access: { owners: ["plain:anna"], dm: "open", groups: { mode: "open" } },
      }),
    );
    const edited: string[] = [];
    const plain = plainChannel({ edit: async (_to, messageId) => void edited.push(messageId) });
    const started = await world.start({ channels: [plain.definition] });
    const mo = { sender: { id: "mo", isBot: false, isSelf: false } };
    const turns: ScriptedTurn[] = [{ toolCalls: [identity] }, { text: "as you say" }];
    world.script(() => turns.shift() ?? { text: "done" });
    await plain.emit(plainMessage("m1", "write the motto down", mo));
    await eventually(() => plain.sent.length > 0, "the question is put");
    const [id = ""] = /(?<=Approval )\w{8}/.exec(JSON.stringify(plain.sent)) ?? [];
    await plain.emit(plainMessage("m2", `/approve ${id} deny`));
    await started.settled();

    const question = "out-1";
    const answer = `out-${1 + words(plain).indexOf("as you say")}`;
    for (const quoted of [question, answer]) {
      const input = { action: "edit", message_id: quoted, message: "Read the weather?" };
      turns.push({ toolCalls: [{ name: "message", input }] });
      const quote = { references: [{ kind: "reply" as const, messageId: quoted, text: "what it said" }] };
      await plain.emit(plainMessage(`about ${quoted}`, "make this friendlier", { ...mo, ...quote }));
      await started.settled();
    }
    expect(edited).toEqual([answer]);
  });
});
