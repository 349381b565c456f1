import { fileMessage, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { exampleConfig, inStore, openWorld, type World, ZHANG } from "../support/harness.ts";

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

describe("a message whose attachments crash the process", () => {
  it("is given up after three crashes, and later messages are answered", async () => {
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

  it("is not counted once its run has begun or if it has no attachments", async () => {
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
