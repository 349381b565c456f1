import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { MessageEvent } from "@signalbox/channel";
import { getKeys, plainMessage } from "@signalbox/channel/testkit";
import { openStore } from "@signalbox/store";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import type { ServiceBodies } from "../../src/messages/service-store.ts";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

it("takes an empty message for a mistake, before any gateway is asked", async () => {
  const { code, err } = await runCommand(hostWith(), "send", "  ");
  expect([code, err]).toEqual([64, expect.stringContaining("The message is empty.")]);
});

const AT = Date.UTC(2026, 10, 22, 9, 30);
const TEXT = "你好，有人吗？";

function written(messageId: string, text: string): MessageEvent {
  return plainMessage({
    channel: "feishu",
    eventId: messageId,
    messageId,
    conversation: { id: "oc_group", kind: "group" },
    sender: { id: "ou_wang", isBot: false, isSelf: false },
    text,
    timestamp: AT,
  });
}

let home: string;
/** The gateway's id of the message with {@link TEXT}, which nobody answered, and which is the newest. */
let refused: string;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "signalbox-messages-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const store = await openStore<ServiceBodies>({ path: join(home, "signalbox.db") });
  const rule = "group_not_allowed";
  for (const event of [written("om_0", "second"), written("om_1", TEXT)]) {
    const accepted = await store.inbox.accept({
      ...getKeys(event),
      kind: "message",
      receivedAt: AT,
      payload: { event, rule },
    });
    if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
    await store.inbox.settle(accepted.id, "ignored", { rule });
    await store.traces.append(accepted.id, [{ stage: "gate", data: { summary: `ignore: ${rule}` } }]);
    refused = accepted.id;
  }
  await store.close();
});

const run = (...words: string[]) => runCommand(hostWith(), ...words, "--home", home);

it("messages lists the latest with their ids, in columns that Chinese does not move", async () => {
  const { out, code } = await run("messages");
  expect(code).toBe(0);
  const [titles = "", first = "", second = ""] = out.split("\n");
  expect(titles).toMatch(/^TIME +ID +WHERE +FROM +STATE +RULE +TEXT$/);
  expect(first).toContain(refused);
  expect(first).toContain(TEXT);
  expect(second.indexOf("second")).toBe(titles.indexOf("TEXT"));
});

it("messages of a conversation that has none says so, and not that none has come at all", async () => {
  const { out } = await run("messages", "--session", "agent:main:web:direct:cli");
  expect(out).toMatch(/^No messages in agent:main:web:direct:cli\./);
});

it("prompt tells an agent that there is not from one that was given none", async () => {
  expect(await run("prompt", "nobody")).toMatchObject({
    code: 64,
    err: expect.stringContaining("There is no agent nobody. Available: main."),
  });
  expect(await run("prompt", "main")).toMatchObject({
    code: 1,
    err: expect.stringContaining("was answered by the agent"),
  });
});

it("memory log says that there is nothing, and prune what each number is of", async () => {
  expect((await run("memory", "log")).out).toBe("There are no earlier versions.\n");
  const pruned = (await run("maintenance", "prune")).out.trimEnd().split("\n");
  expect(pruned.length).toBeGreaterThan(8);
  for (const line of pruned.slice(0, -1)) expect(line).toMatch(/^ +\d+ {2}\S.* removed$/);
  expect(pruned.at(-1)).toMatch(/bytes in use$/);
});

it("why explains the last message where none is named: a sentence first, then what to do", async () => {
  const { out } = await run("why");
  const [which, sentence, remedy] = out.split("\n");
  expect(which).toContain(refused);
  expect(sentence).toBe("It was not answered: the agent does not talk in this group (group_not_allowed).");
  expect(remedy).toContain('Add "feishu:oc_group" to access.groups.allow');
  expect(out).not.toContain("gate ");
});

it("why --details shows every step, and --json all of it", async () => {
  expect((await run("why", "om_1", "--details")).out).toContain("gate     ignore: group_not_allowed");
  expect(JSON.parse((await run("why", "--json")).out)).toMatchObject({
    id: refused,
    message: { rule: "group_not_allowed" },
    notes: [{ stage: "gate" }],
  });
});

it("why says where ids are found", async () => {
  const { err, code } = await run("why", "om_9");
  expect(code).toBe(1);
  expect(err).toContain("There is no message om_9. `signalbox messages` lists the latest");
});
