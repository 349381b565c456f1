import { isPayload, type Json } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import {
  type BlueBubblesFault,
  type FakeMessages,
  type ImsgFault,
  startBlueBubbles,
} from "@signalbox/testkit/imessage";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type IMessageAddress, imessage } from "../src/index.ts";
import { BUILT, group, password, person, startFakeImsg, to } from "./harness.ts";
import { Progress } from "./observed.ts";
import { recordedByBlueBubbles, recordedByImsg } from "./recorded.ts";

const attachment = {
  guid: "5F1B9E7C-0000-4000-8000-000000000001",
  name: "picture.png",
  mimeType: "image/png",
  content: new Uint8Array(Buffer.from("content")),
};

const base = {
  addresses: [{ person }, { person: "anna@example.org" }, { group }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: [] },
  hasBots: false,
} satisfies Partial<ChannelHarness<IMessageAddress>>;

/** What both transports have in common. */
function createPlatform(messages: FakeMessages, progress: Progress) {
  messages.say("with a picture", { attachments: [attachment], at: Date.now() - 1_000 });
  const send = ({ messageId, text, from }: Delivery) =>
    messages.say(text, {
      guid: messageId,
      sender: person,
      ...(from === "person" ? {} : { group, isFromMe: true }),
    });
  return {
    to,
    sent: () =>
      messages.sent.map(({ guid, text, attachments }) => ({
        messageId: guid,
        text: attachments.length === 0 ? text : "[attachment]",
      })),
    sentMedia: () =>
      messages.sent.flatMap(({ guid, attachments }) =>
        attachments.map(({ name, content }) => {
          // Messages chooses the kind by the file, and the suite names its files after the kind.
          const kind =
            (["image", "audio", "video"] as const).find((one) => name.startsWith(one)) ?? ("file" as const);
          return { messageId: guid, kind, name, content };
        }),
      ),
    async deliver(channel, delivery) {
      const { rowId, guid } = send(delivery);
      const isStopped = channel.health().state === "stopped";
      return progress.isAcknowledged(rowId, guid, isStopped ? 300 : 20_000);
    },
    miss: async (delivery) => void send(delivery),
    person: { id: person },
    reactions: (messageId) => messages.tapbacks(messageId),
  } satisfies Partial<Platform<IMessageAddress>>;
}

const imsgFaults: Record<Failure, ImsgFault> = {
  rate: { kind: "error", code: -32_000, message: "Server busy" },
  rate_until: { kind: "error", code: -32_000, message: "Server busy" },
  server: { kind: "error", code: -32_603, message: "AppleScript failed" },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

function imsgHarness(progress: Progress): ChannelHarness<IMessageAddress> {
  return {
    ...base,
    recorded: recordedByImsg,
    async open() {
      const fakeServer = await startFakeImsg();
      const { messages } = fakeServer;
      const path = `/Users/me/Library/Messages/Attachments/${attachment.guid}/${attachment.name}`;
      const ref = { path, mimeType: attachment.mimeType };
      return {
        ...createPlatform(messages, progress),
        config: { command: fakeServer.command },
        secrets: [],
        async deliverRecorded(_, payload) {
          const message = isPayload(payload) ? payload : {};
          fakeServer.push({ ...message });
          return progress.isAcknowledged(Number(message["id"]), String(message["guid"]), 20_000);
        },
        fail: (how) => fakeServer.fail(imsgFaults[how]),
        setAway: (away) =>
          away
            ? fakeServer.fail({
                kind: "error",
                code: -32_603,
                message: "Messages is not running",
                times: 1_000,
              })
            : fakeServer.heal(),
        revoke: () => fakeServer.denyAutomation(true),
        media: {
          ref: { kind: "image", mimeType: attachment.mimeType, ref },
          content: attachment.content,
          answerWith: (answer) =>
            fakeServer.answerFiles(() => {
              const { body, headers, status } = answer();
              const type = headers.get("content-type");
              if (type !== null) Object.assign(ref, { mimeType: type });
              return new Response(body, { status, headers });
            }),
          leadingTo: (address) => [
            { ...ref, path: address },
            { ...ref, path: `/Users/me/Library/Messages/Attachments/../../../${new URL(address).host}` },
          ],
        },
        close: () => fakeServer.stop(),
      };
    },
  };
}

const blueBubblesFaults: Record<Failure, BlueBubblesFault> = {
  rate: { kind: "rate" },
  rate_until: { kind: "rate", retryAfter: 3 },
  server: { kind: "status" },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

function blueBubblesHarness(progress: Progress): ChannelHarness<IMessageAddress> {
  return {
    ...base,
    recorded: recordedByBlueBubbles,
    async open() {
      const fakeServer = await startBlueBubbles({ password, people: [person], groups: [group] });
      const deliverRaw = async (payload: Json): Promise<boolean> => {
        const message = isPayload(payload) ? payload : {};
        return progress.isAcknowledged(fakeServer.addRaw({ ...message }), String(message["guid"]), 20_000);
      };
      return {
        ...createPlatform(fakeServer.messages, progress),
        config: { baseUrl: fakeServer.url, password },
        secrets: [password],
        deliverRecorded: (_, payload) => deliverRaw(payload),
        fail: (how) => fakeServer.fail(blueBubblesFaults[how]),
        setAway: (away) => (away ? fakeServer.fail({ kind: "status", times: 1_000 }) : fakeServer.heal()),
        revoke: () => fakeServer.revoke(),
        media: {
          ref: { kind: "image", mimeType: attachment.mimeType, ref: { attachment: attachment.guid } },
          content: attachment.content,
          answerWith: (answer) => fakeServer.answerAt("/api/v1/attachment/", answer),
          leadingTo: (address) => [{ attachment: address }, { attachment: `../../${new URL(address).host}` }],
        },
        close: () => fakeServer.stop(),
      };
    },
  };
}

const test = { describe, it, afterAll };
const skip = [{ check: "reports rate limits with retryAfterMs", reason: "imsg reports no time" }];

describe("imsg", () => {
  const progress = new Progress();
  runChannelConformance(progress.observe(imessage), imsgHarness(progress), {
    test,
    skip,
    print: inMatrix("imessage"),
  });
});

describe("BlueBubbles", () => {
  const progress = new Progress();
  runChannelConformance(progress.observe(imessage), blueBubblesHarness(progress), { test, print: () => {} });
});

describe("imsg in a process of its own", () => {
  const progress = new Progress();
  const separate = inOwnProcess(imessage, BUILT, launchLocally().launch);
  runChannelConformance(progress.observe(separate), imsgHarness(progress), { test, skip, print: () => {} });
});
