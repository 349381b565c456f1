import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { exampleConfig, feishuAccount, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

it("is told of the message of this conversation, where another one is called the same", async () => {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      channels: { plain: { accounts: { main: {} } }, other: { accounts: { main: {} } } },
      access: { dm: "open" },
    }),
  );
  world.script(() => ({ text: "yes" }));
  const [plain, other] = [plainChannel(), plainChannel()];
  const started = await world.start({
    channels: [plain.definition, { ...other.definition, id: "other" }],
  });
  for (const channel of [plain, other]) {
    const [text, of] = channel === other ? ["goodbye", { channel: "other" }] : ["hello", {}];
    await channel.emit(plainMessage("m1", text, of));
    await started.settled();
  }
  for (const [index, ask] of [
    { text: "/why m1" },
    { text: "/why", references: [{ kind: "reply" as const, messageId: "m1" }] },
  ].entries()) {
    await plain.emit(plainMessage(`w${index}`, ask.text, ask));
    await started.settled();
    const told = JSON.stringify(plain.sent.at(-1)?.message.parts);
    expect(told).toContain("“hello”: It was answered by agent coder");
  }
});

describe("why a message went where it went", () => {
  it("is told tier by tier, to the owner alone", async () => {
    const world = await openWorld();
    const peer = (id: string) => ({ channel: "feishu", peer: { kind: "direct", id } });
    world.configure(
      exampleConfig({
        channels: { feishu: { accounts: { main: feishuAccount() } } },
        access: { dm: "open", owners: [`feishu:${LI}`] },
        bindings: [
          { agent: "coder", match: peer("ou_somebody") },
          { agent: "coder", match: { channel: "feishu", account: "work" } },
          { agent: "coder", match: { channel: "feishu", teamId: "t_other" } },
          { agent: "coder", match: { channel: "feishu" } },
        ],
      }),
    );
    world.script(() => ({ text: "yes" }));
    const started = await world.start();
    const say = async (text: string, senderId: string, messageId: string) => {
      const before = world.feishu.sent.length;
      await started.post(textMessage(text, { senderId, chatId: `oc_${senderId}`, messageId }));
      await expect.poll(() => world.feishu.sent.length).toBe(before + 1);
      return world.feishu.sent.at(-1)?.content ?? "";
    };
    await say("hello", ZHANG, "om_1");
    const tiers = [
      "binding.peer: ",
      "0 (wants peer direct ou_somebody)",
      "binding.account: ",
      "1 (wants account work)",
      "binding.channel: Binding 3 matches.",
      "cache: in memory",
    ];
    const owner = await say("/why om_1 details", LI, "om_2");
    const member = await say("/why om_1 details", ZHANG, "om_3");
    for (const tier of tiers) {
      expect(owner).toContain(tier);
      expect(member).not.toContain(tier);
    }
    expect(member).toContain("binding.channel, session");
    expect(owner).not.toContain("has changed");

    const trace: unknown = await fetch(`${started.url}/api/trace/om_1`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    }).then((answer) => answer.json());
    expect(trace).toMatchObject({
      entries: expect.arrayContaining([
        {
          at: expect.any(Number),
          stage: "admit",
          summary: expect.stringContaining("by binding.channel"),
          data: expect.objectContaining({
            binding: 3,
            cache: "memory",
            digest: expect.any(String),
            tiers: expect.arrayContaining([
              { tier: "binding.channel", outcome: "matched", reason: "Binding 3 matches." },
            ]),
          }),
        },
      ]),
    });
    const told = await world.command(["why", "om_1", "--details"]);
    for (const tier of tiers) expect(told.out).toContain(tier);
  });
});
