import { createInMemoryState } from "@signalbox/channel";
import { checkEvent } from "@signalbox/channel/testkit";
import { dataEnvelope, signalPerson, textEnvelope } from "@signalbox/testkit/signal";
import { describe, expect, it } from "vitest";
import { findContent, readEnvelope } from "../src/inbound/envelope.ts";
import { account, group, openBench } from "./harness.ts";
import { recorded } from "./recorded.ts";

const self = { account, uuid: "99999999-aaaa-4aaa-8aaa-000000000009" };
const facts = { account: "main", botId: account, now: Date.now(), raw: false, self, names: new Map() };

function read(envelope: Readonly<Record<string, unknown>>) {
  const content = findContent(envelope, self);
  return content === undefined ? [] : readEnvelope(envelope, content, facts);
}

describe("an envelope", () => {
  for (const { name, payload } of recorded.filter(({ events }) => events.length === 0))
    it(`causes no event if it is ${name}`, () => {
      const envelope = (payload as { envelope: Record<string, unknown> }).envelope;
      expect(read(envelope)).toEqual([]);
    });

  it("is ignored if its sender, group or time is not a valid id", () => {
    for (const envelope of [
      { ...textEnvelope("x"), sourceUuid: "../../etc", sourceNumber: null },
      { ...textEnvelope("x"), sourceUuid: null, sourceNumber: null },
      textEnvelope("x", { groupId: "../secret" }),
      textEnvelope("x", { timestamp: -1 }),
      textEnvelope("x", { timestamp: 1.5 }),
      dataEnvelope({
        reaction: { emoji: "", targetAuthorUuid: signalPerson.uuid, targetSentTimestamp: 1e12 + 1 },
      }),
      dataEnvelope({ reaction: { emoji: "👍", targetAuthorUuid: "x", targetSentTimestamp: 1e12 + 1 } }),
      dataEnvelope({ remoteDelete: { timestamp: "soon" } }),
    ])
      expect(read(envelope)).toEqual([]);
  });

  it("keeps the words if styles and mentions point outside the text or overlap", () => {
    const fields = {
      textStyles: [
        { style: "BOLD", start: 0, length: 99 },
        { style: "ITALIC", start: -1, length: 2 },
        { style: "BOLD", start: 0, length: 3 },
        { style: "ITALIC", start: 0, length: 7 },
        { style: "NEW", start: 0, length: 3 },
      ],
      mentions: [{ uuid: signalPerson.uuid, start: 50, length: 1 }],
    };
    expect(read(textEnvelope("one two", { groupId: group, fields }))).toMatchObject([
      { text: "***one** two*" },
    ]);
  });

  it("writes several lines of code as a block, and leaves spaces outside of marks", () => {
    const fields = {
      textStyles: [
        { style: "BOLD", start: 2, length: 5 },
        { style: "MONOSPACE", start: 9, length: 4 },
      ],
    };
    expect(read(textEnvelope("a  big  \nx\ny\n", { fields }))).toMatchObject([
      { text: "a  **big**  \n```\nx\ny\n```\n" },
    ]);
  });

  it("never takes a name in the text for a mention of the bot", () => {
    expect(read(textEnvelope(`@${account} hi`, { groupId: group }))).toMatchObject([
      { addressed: "none", mentions: [], text: `@${account} hi` },
    ]);
  });

  it("contains valid events for each known shape", () => {
    for (const { payload } of recorded) {
      const envelope = (payload as { envelope: Record<string, unknown> }).envelope;
      for (const event of read(envelope))
        expect(checkEvent(event, { channel: "signal", account: "main" })).toEqual([]);
    }
  });
});

describe("the account", () => {
  it("ignores messages of another account and reports that the daemon serves it", async () => {
    await using bench = await openBench({ context: { state: createInMemoryState() } });
    await bench.fakeServer.push(textEnvelope("for somebody else"), { account: "+4915100000000" });
    await expect.poll(() => bench.channel.health()).toMatchObject({ state: "degraded" });
    expect(bench.events).toEqual([]);
  });

  it("logs that a message could not be decrypted, without its content", async () => {
    await using bench = await openBench();
    const exception = { message: "secret words", type: "UntrustedIdentityException" };
    await bench.fakeServer.push({ ...textEnvelope(""), dataMessage: undefined }, { exception });
    await expect.poll(() => bench.logged.join("\n")).toContain("UntrustedIdentityException");
    expect(bench.logged.join("\n")).not.toContain("secret words");
  });
});
