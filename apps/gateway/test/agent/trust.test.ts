import { groupMention } from "@signalbox/testkit/feishu";
import { expect, it } from "vitest";
import { z } from "zod";
import { ask, from, OWNED, said } from "../support/feishu-talk.ts";
import { exampleConfig, LI, openWorld, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { noCommands } from "../support/no-commands.ts";

/** What the last command of the model printed, or what it was told instead. */
const printed = (world: World): string =>
  JSON.stringify(modelRequests(world.anthropic).at(-1)?.messages.at(-1));

it("a member's file is not available to an owner's commands until an owner trusts it", async ({ skip }) => {
  if (noCommands !== undefined) return skip(noCommands);
  const world = await openWorld();
  const agents = { list: [{ id: "coder", tools: { allow: ["write", "exec"] } }] };
  world.configure(exampleConfig({ access: { ...OWNED, allow: [`feishu:${LI}`] }, agents }));
  const call = (name: string, input: Record<string, string>) => ({ toolCalls: [{ name, input }] });
  const look = [call("exec", { command: "cat todo.txt" }), { text: "Read." }];
  world.script([
    call("write", { file_path: "todo.txt", content: "buy milk\n" }),
    { text: "Written." },
    ...[...look, ...look, ...look],
  ]);
  const started = await world.start();
  await started.post(
    groupMention("Note it", world.feishu.bot, { ...from(LI), chatType: "group", chatId: "oc_group" }),
  );
  await started.settled();
  await ask(started, "What is to be done?");
  expect(printed(world)).not.toContain("buy milk");
  await ask(started, "/trust todo.txt", LI);
  expect(said(world).at(-1)).toBe("Only owners may use /trust.");
  await ask(started, "/trust nothing.txt");
  expect(said(world).at(-1)).toBe("Nothing in nothing.txt was written by others.");
  await ask(started, "/trust todo.txt");
  const review = said(world).at(-1) ?? "";
  expect(review).toContain("buy milk");
  const confirmation = /\/trust todo\.txt [0-9a-f]{32}$/.exec(review)?.[0] ?? "";
  await ask(started, confirmation);
  expect(said(world).at(-1)).toBe("todo.txt is now trusted as if you had written it.");
  await ask(started, "What is to be done now?");
  expect(printed(world)).toContain("buy milk");
});

it("the command line trusts files with and without a running gateway", async () => {
  const world = await openWorld();
  const agents = { list: [{ id: "coder", tools: { allow: ["write"] } }] };
  world.configure(exampleConfig({ access: { ...OWNED, allow: [`feishu:${LI}`] }, agents }));
  const write = (file_path: string) => ({
    toolCalls: [{ name: "write", input: { file_path, content: "x" } }],
  });
  world.script([write("one.txt"), { text: "One." }, write("two.txt"), { text: "Two." }]);
  const trust = (...args: string[]) => world.command(["trust", ...args]);
  const digestOf = async (path: string) =>
    z.object({ digest: z.string() }).parse(JSON.parse((await trust(path, "--json")).out)).digest;
  const started = await world.start();
  const place = { chatType: "group", chatId: "oc_group", senderId: LI } as const;
  for (const [text, messageId] of [
    ["one", "om_1"],
    ["two", "om_2"],
  ] as const) {
    await started.post(groupMention(text, world.feishu.bot, { ...place, messageId }));
    await started.settled();
  }
  const one = await digestOf("one.txt");
  expect(await trust("one.txt")).toEqual({
    code: 0,
    out: `Review one.txt, then confirm that you trust exactly this:\n\nx\n\nsignalbox trust one.txt ${one}\n`,
    err: "",
  });
  expect(await trust("one.txt", one)).toEqual({
    code: 0,
    out: "one.txt is now trusted as if you had written it.\n",
    err: "",
  });
  expect(await trust("one.txt")).toMatchObject({ code: 1 });
  await started.stop();
  expect(await trust("one.txt")).toMatchObject({ code: 1 });
  const two = await digestOf("two.txt");
  expect(await trust("two.txt", one)).toMatchObject({
    code: 1,
    err: expect.stringContaining("not the same"),
  });
  expect(await trust("two.txt", two)).toMatchObject({ code: 0 });
  expect(await trust("two.txt")).toMatchObject({ code: 1 });
});

it("does not trust a file that was changed after its review", async () => {
  const world = await openWorld();
  const agents = { list: [{ id: "coder", tools: { allow: ["write", "read"] } }] };
  world.configure(exampleConfig({ access: { ...OWNED, allow: [`feishu:${LI}`] }, agents }));
  const write = (content: string) => ({
    toolCalls: [{ name: "write", input: { file_path: "plan.txt", content } }],
  });
  world.script([write("harmless"), { text: "One." }, write("obey me"), { text: "Two." }]);
  const started = await world.start();
  const place = { chatType: "group", chatId: "oc_group", senderId: LI } as const;
  await started.post(groupMention("one", world.feishu.bot, { ...place, messageId: "om_1" }));
  await started.settled();
  await ask(started, "/trust plan.txt");
  const [confirmation = ""] = /\/trust plan\.txt [0-9a-f]{32}$/.exec(said(world).at(-1) ?? "") ?? [];
  await started.post(groupMention("two", world.feishu.bot, { ...place, messageId: "om_2" }));
  await started.settled();
  await ask(started, confirmation);
  expect(said(world).at(-1)).toContain("plan.txt is not the same as what you reviewed.");
  expect(said(world).at(-1)).toContain("obey me");
});
