import type { ChannelDefinition } from "@signalbox/channel";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, openWorld, taintIn } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

const TO_HALL = {
  name: "message",
  input: { action: "send", target: "other:hall", message: "The demo is at six." },
};
const POLL = {
  name: "message",
  input: { action: "poll", target: "other:hall", message: "Where to?", options: ["Rome", "Oslo"] },
};
/** In the conversation that the message went to. */
const FROM_BEN = {
  channel: "other",
  address: "other:hall",
  conversation: { id: "hall", kind: "direct" },
  sender: { id: "ben", isBot: false, isSelf: false },
} as const;
const MEMBER = {
  sender: { id: "mo", isBot: false, isSelf: false },
  conversation: { id: "mo", kind: "direct" },
} as const;

/** Two channels; the agent is spoken to by the first. */
async function open() {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      channels: { plain: { accounts: { main: {} } }, other: { accounts: { main: {} } } },
      access: { owners: ["plain:anna"], dm: "open", groups: { mode: "open" } },
    }),
  );
  const plain = plainChannel();
  const other = plainChannel();
  const create: ChannelDefinition["create"] = async (context) => ({
    ...(await other.definition.create(context)),
    edit: async () => {},
    remove: async () => {},
  });
  const channels = [plain.definition, { ...other.definition, id: "other", create }];
  return { world, plain, other, start: () => world.start({ channels }) };
}

function partsOf({ sent }: ReturnType<typeof plainChannel>): string {
  return JSON.stringify(sent.map(({ to, message }) => [to, message.parts]));
}

describe("a message to another conversation", () => {
  it("is delivered for an owner, and the next run there sees it as untrusted text", async () => {
    const { world, plain, other, start } = await open();
    world.script([{ toolCalls: [TO_HALL] }, { text: "told them" }, { text: "yes, at six" }]);
    const started = await start();
    await plain.emit(plainMessage("m1", "tell the hall that the demo is at six"));
    await started.settled();
    expect(partsOf(other)).toBe(
      JSON.stringify([["other:hall", [{ type: "text", text: "The demo is at six." }]]]),
    );
    expect(partsOf(plain)).toContain("told them");
    expect(await taintIn(world)).toEqual([]);

    await other.emit(plainMessage("m2", "really?", FROM_BEN));
    await started.settled();
    const asked = modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text;
    expect(asked).toContain("The demo is at six.");
    expect(asked).toContain("Sent here by agents from other conversations");
    expect(asked).toContain("asked by somebody whose role is owner");
    expect(asked).not.toMatch(/anna|not addressed to you/);
    expect(world.anthropic.requests).toHaveLength(3);
  });

  it.each([
    ["with the words that it has by now", { action: "edit", message: "The demo is at seven." }, "at seven"],
    ["no more, once it is deleted", { action: "delete" }, undefined],
  ])("is told there %s", async (_how, change, words) => {
    const { world, plain, other, start } = await open();
    const sending = [{ toolCalls: [TO_HALL] }, { text: "told them" }];
    world.script(sending);
    const started = await start();
    await plain.emit(plainMessage("m1", "tell the hall"));
    await started.settled();
    const [id] = /sent-[\w-]+/.exec(JSON.stringify(modelRequests(world.anthropic).at(-1)?.body)) ?? [];
    const input = { ...change, target: "other:hall", message_id: id };
    const changing = { toolCalls: [{ name: "message", input }] };
    world.script([...sending, changing, { text: "changed" }, { text: "I see" }]);
    await plain.emit(plainMessage("m2", "it is otherwise"));
    await started.settled();
    await other.emit(plainMessage("m3", "really?", FROM_BEN));
    await started.settled();
    const asked = modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text ?? "";
    expect(asked).toContain("really?");
    expect(asked).not.toContain("at six");
    expect(asked.includes("Sent here by agents")).toBe(words !== undefined);
    expect(asked).toContain(words ?? "");
  });

  it("needs an owner's approval if a member requests it, and is sent once after it", async () => {
    const { world, plain, other, start } = await open();
    world.script([{ toolCalls: [TO_HALL] }, { text: "told them" }]);
    const started = await start();
    await plain.emit(plainMessage("m1", "tell the hall", { ...MEMBER, address: "plain:mo" }));
    await eventually(() => partsOf(plain).includes("Approval"), "an owner is asked");
    const [approval] = await started.gateway.service.approvals();
    expect(approval?.reason).toContain("write to another conversation (`other:hall`)");
    expect(other.sent).toEqual([]);
    const id = /Approval (\w{8})/.exec(partsOf(plain))?.[1];
    await plain.emit(plainMessage("m2", `/approve ${id} allow`));
    await started.settled();
    expect(other.sent).toHaveLength(1);
  });

  it("needs an owner's approval if the run is tainted, whoever requests it", async () => {
    const { world, plain, other, start } = await open();
    world.script([{ toolCalls: [TO_HALL] }, { text: "no" }]);
    const started = await start();
    const quote = {
      references: [{ kind: "reply" as const, messageId: "m0", text: "Tell the hall that we are closed." }],
    };
    await plain.emit(plainMessage("m1", "do as it says", quote));
    await eventually(() => partsOf(plain).includes("Approval"), "an owner is asked");
    expect(partsOf(plain)).toContain("content from quote");
    const id = /Approval (\w{8})/.exec(partsOf(plain))?.[1];
    await plain.emit(plainMessage("m2", `/approve ${id} deny`));
    await started.settled();
    expect(other.sent).toEqual([]);
  });

  it("is not available to guests", async () => {
    const { world, plain, other, start } = await open();
    world.script([{ toolCalls: [TO_HALL] }, { text: "I cannot" }]);
    const started = await start();
    const guest = {
      conversation: { id: "g", kind: "group" },
      address: "plain:g",
      addressed: "mention",
    } as const;
    await plain.emit(
      plainMessage("m1", "tell the hall", { ...guest, sender: { id: "eve", isBot: false, isSelf: false } }),
    );
    await started.settled();
    expect([partsOf(plain).includes("I cannot"), other.sent]).toEqual([true, []]);
  });

  it("may be a poll, which is numbered text if the platform has no polls", async () => {
    const { world, plain, other, start } = await open();
    world.script([{ toolCalls: [POLL] }, { text: "asked them" }]);
    const started = await start();
    await plain.emit(plainMessage("m1", "ask the hall where to"));
    await started.settled();
    expect(partsOf(other)).toContain("Where to?\\n\\n1. Rome\\n2. Oslo\\n\\nAnswer with a number.");
  });
});
