import { createClient, isClientError } from "@signalbox/client";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";

/** The code of what a request is refused with. */
async function refusal(request: Promise<unknown>): Promise<string | undefined> {
  try {
    await request;
    return undefined;
  } catch (error) {
    return isClientError(error) ? error.code : String(error);
  }
}

describe("the HTTP API for owners", () => {
  it("approves a pairing code, explains a message, and lists sessions of all channels", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: { dm: "pairing", owners: [`feishu:${LI}`] } }));
    world.script(() => ({ text: "welcome" }));
    const started = await world.start();
    const client = createClient({ baseUrl: started.url, token: TOKEN });
    const say = async (text: string, messageId: string) => {
      await started.post(textMessage(text, { senderId: ZHANG, messageId }));
      await started.settled();
    };

    await say("let me in", "om_1");
    const code = /Pairing code: ([A-Z0-9]{8})\./.exec(world.feishu.sent[0]?.content ?? "")?.[1] ?? "";
    const person = { channel: "feishu", account: "main", peer: ZHANG, label: "张三" };
    expect(await client.pairings()).toMatchObject({ pending: [person], paired: [] });
    expect(JSON.stringify(await client.pairings())).not.toContain(code);
    expect(await client.why("om_1")).toMatchObject({
      sentence: expect.stringContaining("It was not answered: its sender is not paired"),
      remedy: expect.stringContaining(`feishu:${ZHANG}`),
      trace: { message: { rule: "dm_unknown" } },
    });
    expect((await client.why("om_1", "zh")).sentence).toMatch(/配对/);
    expect(await refusal(client.why("om_never"))).toBe("not_found");

    expect(await refusal(client.approvePairing("WRONGONE"))).toBe("not_found");
    expect(await client.approvePairing(code.toLowerCase())).toMatchObject({
      ...person,
      approvedBy: "token owner",
    });
    const told = () => world.feishu.sent.some(({ content }) => content.includes("You may talk"));
    await eventually(told, "they hear of it");
    await say("thank you", "om_2");
    const key = `agent:coder:feishu:direct:${ZHANG}`;
    expect(await client.sessions()).toMatchObject([
      { agent: "coder", channel: "feishu", peerName: "张三", busy: false },
    ]);
    const { messages } = await client.messages();
    expect(messages.map(({ text, state }) => [text, state])).toEqual([
      ["thank you", "replied"],
      ["let me in", "ignored"],
    ]);
    const [session] = await client.sessions();
    expect(await client.messages({ session: key })).toMatchObject({
      messages: [{ messageId: "om_2", senderName: "张三" }],
    });
    expect(await client.messages({ session: `${key}-another` })).toEqual({ messages: [] });
    expect(await client.messages({ outcome: "unanswered", text: "LET ME" })).toMatchObject({
      messages: [{ messageId: "om_1" }],
    });
    expect(await refusal(client.messages({ limit: 0 }))).toBe("bad_request");

    const { messages: transcript, ends } = await client.transcript(session?.key ?? "");
    expect(transcript).toMatchObject([
      { role: "user", text: "thank you", sender: "张三" },
      { role: "assistant" },
    ]);
    expect(ends).toMatchObject([{ outcome: "replied" }]);
    expect(await refusal(client.transcript(`${key}-another`))).toBe("not_found");

    expect(await client.usage({ by: "channel" })).toMatchObject({ groups: [{ name: "feishu", runs: 1 }] });
    expect(await client.usageSeries({ by: "sender", days: 7 })).toMatchObject({
      points: [{ name: `feishu:${ZHANG}`, title: "张三", runs: 1 }],
    });

    const commands = await client.commands("coder", "zh");
    expect(commands.find(({ name }) => name === "model")?.description).toMatch(/模型/);
    expect(await refusal(client.commands("nobody"))).toBe("not_found");

    await client.revokePairing(person);
    expect(await refusal(client.revokePairing(person))).toBe("not_found");
    expect((await client.pairings()).paired).toEqual([]);
    await started.stop();
    const log = await world.command(["audit", "list", "--json"]);
    expect(JSON.parse(log.out)).toEqual(
      expect.arrayContaining(
        ["approved", "revoked"].map((action) =>
          expect.objectContaining({
            kind: "pairing",
            action,
            actor: "token owner",
            subject: `feishu:main:${ZHANG}`,
          }),
        ),
      ),
    );
  });

  it("renames and removes conversations, except those with an active run", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index === 1) await goOn.promise;
      return { text: "Done." };
    });
    const started = await world.start();
    const client = createClient({ baseUrl: started.url, token: TOKEN });
    const talk = async (text: string) => {
      for await (const _ of client.chat("coder", "c1", text));
    };
    await talk("hello");
    await client.renameConversation("c1", "关于茶");
    expect(await client.conversations()).toMatchObject([{ id: "c1", title: "关于茶" }]);
    expect(await refusal(client.renameConversation("c2", "x"))).toBe("not_found");

    const second = talk("go on");
    await expect.poll(() => client.sessions()).toMatchObject([{ busy: true }]);
    expect(await refusal(client.removeConversation("c1"))).toBe("busy");
    goOn.resolve();
    await second;
    await started.settled();
    await client.removeConversation("c1");
    expect(await client.conversations()).toEqual([]);
    expect(await refusal(client.history("c1"))).toBe("not_found");
    expect(await refusal(client.removeConversation("c1"))).toBe("not_found");
  });
});
