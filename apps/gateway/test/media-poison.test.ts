import { fileMessage, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, inStore, LI, openWorld, type World, ZHANG } from "./harness.ts";

const ends = (world: World) =>
  inStore(world, async (store) => {
    const rows = await store.inbox.list();
    return Object.fromEntries(rows.map(({ messageId, state, detail }) => [messageId, [state, detail?.rule]]));
  });
const notes = (world: World) => inStore(world, (store) => store.kv.list("media-attempt"));
const sent = (world: World) => JSON.stringify(world.feishu.sent);

async function open() {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script(() => ({ text: "好" }));
  world.feishu.addResource("om_bad", "file", Buffer.from("words"));
  return world;
}

describe("a message whose attachments end the process", () => {
  it("is set aside after three of them, and what is behind it is answered", async () => {
    const world = await open();
    const bad = fileMessage("file", "a.txt", { senderId: ZHANG, chatId: "oc_direct", messageId: "om_bad" });
    for (let life = 0; life < 3; life += 1) {
      const child = await world.startTuned({ SIGNALBOX_FAILPOINT: "begin.before:1:kill" });
      if (life === 0) await child.post(bad);
      expect(await child.exited).toMatchObject({ signal: "SIGKILL" });
      expect((await ends(world))["om_bad"]?.[0]).toBe("queued");
    }
    const last = await world.start();
    await last.post(textMessage("还在吗", { senderId: ZHANG, chatId: "oc_direct", messageId: "om_next" }));
    await last.settled();
    await last.stop();
    expect(await ends(world)).toEqual({
      om_bad: ["failed-reported", "poison"],
      om_next: ["replied", undefined],
    });
    expect(sent(world).match(/set it aside/g)).toHaveLength(1);
    expect(await notes(world)).toEqual([]);
  });

  it("takes no other with it that was being read at the same time", async () => {
    const world = await open();
    world.feishu.addResource("om_good", "file", Buffer.from("other words"));
    const post = [
      fileMessage("file", "a.txt", { senderId: ZHANG, chatId: "oc_direct", messageId: "om_bad" }),
      fileMessage("file", "b.txt", { senderId: LI, chatId: "oc_other", messageId: "om_good" }),
    ];
    const asked = (id: string) => world.feishu.requests.filter((one) => one.path.includes(`${id}/resources`));
    world.feishu.fail({ kind: "hang", path: "om_bad/resources", times: 1_000 });
    world.feishu.fail({ kind: "hang", path: "om_good/resources", times: 2 });
    for (let life = 1; life <= 3; life += 1) {
      const child = await world.startChild();
      if (life === 1) for (const event of post) await child.post(event);
      await eventually(() => asked("om_bad").length === life, "the bad one is read");
      if (life < 3) await eventually(() => asked("om_good").length === life, "so is the other");
      await child.end("SIGKILL");
    }
    // The third time each was to be read alone.
    const counts = (await notes(world)).map(({ value }) => value);
    expect(counts.filter((count) => count === 3)).toHaveLength(1);
    expect(asked("om_good")).toHaveLength(2);
    const last = await world.start();
    await last.settled();
    await last.stop();
    expect(await ends(world)).toEqual({
      om_bad: ["failed-reported", "poison"],
      om_good: ["replied", undefined],
    });
  });

  it("counts no run that began, and no message without attachments", async () => {
    const world = await open();
    const started = await world.start();
    await started.post(
      fileMessage("file", "a.txt", { senderId: ZHANG, chatId: "oc_direct", messageId: "om_bad" }),
    );
    await started.post(textMessage("好", { senderId: ZHANG, chatId: "oc_direct", messageId: "om_2" }));
    await started.settled();
    expect(await notes(world)).toEqual([]);
  });
});
