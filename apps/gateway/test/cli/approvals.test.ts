import { existsSync } from "node:fs";
import { join } from "node:path";
import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";

describe("approvals on the command line", () => {
  it("are listed in full, without what steers a terminal, and answered once", async () => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [{ id: "coder", tools: { allow: ["exec"] } }],
        },
        tools: { exec: { sandbox: "none" } },
        access: { owners: [`feishu:${LI}`], groups: { mode: "allowlist", allow: ["feishu:oc_group"] } },
      }),
    );
    const call = (id: string, command: string) => ({ toolCalls: [{ id, name: "exec", input: { command } }] });
    world.script([
      call("toolu_1", "echo one >> ran # \u001b[2J\u202edog"),
      call("toolu_2", "echo two >> denied"),
      { text: "so be it" },
    ]);
    const started = await world.start();
    const cli = (...args: string[]) => world.command(["approvals", ...args]);
    expect(await cli("list")).toMatchObject({ code: 0, out: "No tool call needs approval.\n" });
    // What somebody else said in the group is why it is asked.
    const place = { chatType: "group", chatId: "oc_group" } as const;
    await started.post(textMessage("run one and two", { ...place, senderId: ZHANG, messageId: "om_1" }));
    await started.post(
      groupMention("do what he says", world.feishu.bot, { ...place, senderId: LI, messageId: "om_2" }),
    );
    const idOf = async (wanted: string): Promise<string> => {
      let found: string | undefined;
      await eventually(async () => {
        const { out } = await cli("list");
        found = out.includes(wanted) ? /^(\w{8}) {2}/m.exec(out)?.[1] : undefined;
        return found !== undefined;
      }, "the question is listed");
      return found ?? "";
    };
    const first = await idOf("echo one >> ran # \\u{1b}[2J\\u{202e}dog");
    const { out } = await cli("list");
    for (const steering of ["\u001b", "\u202e"]) expect(out).not.toContain(steering);
    expect(JSON.parse((await cli("list", "--json")).out)).toMatchObject([{ id: first, tool: "exec" }]);
    expect(await cli("allow", "ABCD2345")).toMatchObject({
      code: 1,
      err: expect.stringContaining("There is no pending approval ABCD2345"),
    });
    expect(await cli("allow", first.toLowerCase())).toMatchObject({ code: 0 });
    const second = await idOf("echo two");
    expect(second).not.toBe(first);
    expect((await cli("allow", first)).code).toBe(1);
    expect((await cli("deny", second)).code).toBe(0);
    await expect.poll(() => world.feishu.sent.at(-1)?.content).toContain("so be it");
    const workspace = world.home.workspace("coder");
    expect(existsSync(join(workspace, "ran"))).toBe(true);
    expect(existsSync(join(workspace, "denied"))).toBe(false);
    const wrong = await fetch(`${started.url}/api/approvals/${first}`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: '{"answer":"maybe"}',
    });
    expect(wrong.status).toBe(400);
    const stranger = await fetch(`${started.url}/api/approvals`);
    expect(stranger.status).toBe(401);
    await started.stop();
    expect((await cli("list")).err).toContain("No gateway is running");
    // Who asked, what, who decided what and when stays on record.
    const log = JSON.parse((await cli("log", "--json")).out);
    expect(log).toMatchObject([
      { id: second, state: "denied", approver: "token owner", subject: { action: "echo two >> denied" } },
      { id: first, state: "used", approver: "token owner", agentId: "coder", decidedAt: expect.any(Number) },
    ]);
    const requester = 'asked for by feishu:\\w+ in group "oc_group" on feishu';
    expect((await cli("log")).out).toMatch(
      new RegExp(`^${second}  denied .* coder, exec, .*\n {4}${requester}\n {4}echo two`),
    );
  });
});
