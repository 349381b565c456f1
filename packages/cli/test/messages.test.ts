import type { MessageInfo, Trace } from "@signalbox/client";
import { expect, it } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

const REFUSED: MessageInfo = {
  id: "01JD0000000000000000000001",
  messageId: "om_1",
  at: Date.UTC(2026, 10, 22, 9, 30),
  channel: "feishu",
  account: "main",
  conversation: "oc_group",
  sender: "ou_wang",
  text: "你好，有人吗？",
  state: "ignored",
  rule: "group_not_allowed",
};
const TRACE: Trace = {
  messageId: REFUSED.id,
  entries: [{ at: REFUSED.at, stage: "gate", summary: "ignore: group_not_allowed" }],
  message: REFUSED,
};

const host = hostWith({
  messages: async (_home, { limit }) => [REFUSED, { ...REFUSED, id: "2", text: "second" }].slice(0, limit),
  trace: async (_home, id) => (id === REFUSED.id || id === "om_1" ? TRACE : undefined),
});
const NOWHERE = ["--home", "/nowhere/at/all"];

it("messages lists the latest with their ids, in columns that Chinese does not move", async () => {
  const { out, code } = await runCommand(host, "messages", ...NOWHERE);
  expect(code).toBe(0);
  const [titles = "", first = "", second = ""] = out.split("\n");
  expect(titles).toMatch(/^TIME +ID +WHERE +FROM +STATE +RULE +TEXT$/);
  expect(first).toContain(REFUSED.id);
  expect(first).toContain("你好，有人吗？");
  expect(second.indexOf("second")).toBe(titles.indexOf("TEXT"));
});

it("why explains the last message where none is named: a sentence first, then what to do", async () => {
  const { out } = await runCommand(host, "why", ...NOWHERE);
  const [which, sentence, remedy] = out.split("\n");
  expect(which).toContain(REFUSED.id);
  expect(sentence).toBe("It was not answered: the agent does not talk in this group (group_not_allowed).");
  expect(remedy).toContain('Add "feishu:oc_group" to access.groups.allow');
  expect(out).not.toContain("gate ");
});

it("why --details shows every step, and --json all of it", async () => {
  expect((await runCommand(host, "why", "om_1", "--details", ...NOWHERE)).out).toContain(
    "gate     ignore: group_not_allowed",
  );
  expect(JSON.parse((await runCommand(host, "why", "--json", ...NOWHERE)).out)).toMatchObject({
    id: REFUSED.id,
    message: { rule: "group_not_allowed" },
    notes: [{ stage: "gate" }],
  });
});

it("why says where ids are found", async () => {
  const { err, code } = await runCommand(host, "why", "om_9", ...NOWHERE);
  expect(code).toBe(1);
  expect(err).toContain("No message om_9 is known. `signalbox messages` lists the latest");
});
