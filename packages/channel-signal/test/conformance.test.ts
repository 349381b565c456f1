import { setTimeout as delay } from "node:timers/promises";
import { isPayload } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import {
  type SentSignalMessage,
  type SignalFault,
  signalPerson,
  syncEnvelope,
  textEnvelope,
} from "@signalbox/testkit/signal";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type SignalAddress, signal } from "../src/index.ts";
import { encodedResponse } from "./encoded-response.ts";
import { account, BUILT, group, startFakeSignal, to } from "./harness.ts";
import { recorded } from "./recorded.ts";

const self = { uuid: "99999999-aaaa-4aaa-8aaa-000000000009", number: account };
const FIRST = 1_750_000_000_000;

/** Maps the suite's message names to Signal's timestamps. */
function timestampOf(name: string): number {
  return FIRST + [...name].reduce((number, letter) => (number * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

function envelopeOf({ messageId, text, from }: Delivery) {
  const timestamp = timestampOf(messageId);
  if (from === "person") return textEnvelope(text, { timestamp });
  return syncEnvelope(text, self, { timestamp, groupId: group });
}

const faults: Record<Failure, SignalFault> = {
  rate: { kind: "rate" },
  rate_until: { kind: "rate", retryAfterSeconds: 3 },
  server: { kind: "status" },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

function idOf({ timestamp }: SentSignalMessage): string {
  return `${timestamp}:${account}`;
}

const ref = { id: "picture.png", mimeType: "image/png", from: { person: signalPerson.uuid } };

const harness: ChannelHarness<SignalAddress> = {
  addresses: [{ person: signalPerson.uuid }, { person: "+4915100000001" }, { group }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["ws", "undici"] },
  hasBots: false,
  // The suite waits half a second for each payload without an event. The others are in envelopes.test.ts.
  recorded: recorded.filter(({ events, name }) => events.length > 0 || name === "a receipt"),
  async open() {
    const fakeServer = await startFakeSignal({ receiveMode: "on-connection" });
    fakeServer.addAttachment(ref.id, Buffer.from("content"));
    return {
      config: { account, baseUrl: fakeServer.url },
      secrets: [],
      to,
      sent: () =>
        fakeServer.sent
          .filter(({ isRemoved }) => !isRemoved)
          .map((message) => ({
            messageId: idOf(message),
            text: message.attachment === undefined ? (message.texts.at(-1) ?? "") : "[attachment]",
          })),
      sentMedia: () =>
        fakeServer.sent.flatMap((message) => {
          const { attachment } = message;
          if (attachment === undefined) return [];
          const [type] = attachment.mimeType.split("/");
          const kind = type === "image" || type === "audio" || type === "video" ? type : "file";
          return [{ messageId: idOf(message), kind, ...attachment }];
        }),
      messageId: ({ messageId, from }) =>
        `${timestampOf(messageId)}:${from === "person" ? signalPerson.uuid : account}`,
      deliver: (_, delivery) => fakeServer.push(envelopeOf(delivery)),
      deliverRecorded: async (_, payload) => {
        const { envelope, ...more } = isPayload(payload) ? payload : {};
        return fakeServer.push(isPayload(envelope) ? envelope : {}, more);
      },
      async miss(delivery) {
        while (fakeServer.events.listeners > 0) await delay(5);
        await fakeServer.push(envelopeOf(delivery));
      },
      person: { id: signalPerson.uuid, name: signalPerson.name },
      reactions: (messageId) => fakeServer.reactions(messageId),
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", path: "", times: 1_000 }) : fakeServer.heal(),
      revoke: () => fakeServer.unlink(),
      media: {
        ref: { kind: "image", mimeType: "image/png", ref },
        content: Buffer.from("content"),
        answerWith: (answer) => fakeServer.answerAt("/api/v1/rpc", () => encodedResponse(answer())),
        leadingTo: (address) => [
          { ...ref, id: address },
          { ...ref, id: `../../${new URL(address).host}` },
        ],
      },
      close: () => fakeServer.stop(),
    };
  },
};

const skip: readonly { readonly check: string; readonly reason: string }[] = [];
const test = { describe, it, afterAll };

runChannelConformance(signal, harness, { test, skip, print: inMatrix("signal") });

describe("in a process of its own", () => {
  runChannelConformance(inOwnProcess(signal, BUILT, launchLocally().launch), harness, {
    test,
    skip,
    print: () => {},
  });
});
