import { isChannelError } from "../contract/errors.ts";
import type { SendOptions } from "../contract/messages.ts";
import { splitText } from "../markdown/split-text.ts";
import { textLength } from "../text.ts";
import { type Bench, eventually, exactly, never, within } from "./bench.ts";
import { type Check, method, requiresPlatform } from "./check.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";
import { message, sentTexts } from "./steps.ts";

const options: SendOptions = { idempotencyKey: "conf-1", signal: never };

type Codes = Parameters<typeof expectChannelError>[2][];

/** Sends a message that must fail. `what` describes the operation as the subject of a sentence. */
function sendFailing<Address>({ channel, platform }: Bench<Address>, what: string, ...codes: Codes) {
  return expectChannelError(channel.send(platform.to, message("one"), options), what, ...codes);
}

const requiresLimit: Check["applies"] = ({ capabilities }) =>
  capabilities.text.max === undefined ? "no limit" : undefined;

/** Checks of outbound messages. */
export const sendingChecks: readonly Check[] = [
  {
    group: "sending",
    name: "sends every part once, in order, with receipts",
    async run({ open }) {
      await using bench = await open();
      const reported: (readonly [part: number, messages: number])[] = [];
      const receipt = await bench.channel.send(bench.platform.to, message("one", "two", "three"), {
        ...options,
        onPart: ({ index }) => void reported.push([index, bench.platform.sent().length]),
      });
      expectEqual(
        receipt.parts.map((part) => part.index),
        [0, 1, 2],
        "The receipt must list the index of every part in order",
      );
      expectEqual(
        reported,
        [0, 1, 2].map((index) => [index, index + 1]),
        "onPart must be called after each part and before the next one is sent ([part, messages sent so far])",
      );
      expectEqual(
        new Set(receipt.parts.map((part) => part.messageId)).size,
        3,
        "Three parts must have three different message ids",
      );
      expectEqual(
        sentTexts(bench),
        ["one", "two", "three"],
        "The platform must have every part once, in order",
      );
    },
  },
  {
    group: "sending",
    name: "resumes at startAt",
    async run({ open }) {
      await using bench = await open();
      const receipt = await bench.channel.send(bench.platform.to, message("one", "two", "three"), {
        ...options,
        startAt: 2,
      });
      expectEqual(
        receipt.parts.map((part) => part.index),
        [2],
        "With startAt 2 of 3 parts, the receipt must contain only part 2",
      );
      expectEqual(sentTexts(bench), ["three"], "With startAt 2 of 3 parts, only the last part must be sent");
    },
  },
  {
    group: "text",
    name: "accepts texts up to its limit and rejects longer ones",
    applies: requiresLimit,
    async run({ open, definition }) {
      const { text } = definition.capabilities;
      const max = text.max ?? 0;
      await using bench = await open();
      for (const [index, length] of [max - 1, max].entries()) {
        const sent = exactly(length, text);
        await bench.channel.send(bench.platform.to, message(sent), {
          ...options,
          idempotencyKey: `conf-${index}`,
        });
        expectEqual(
          bench.platform.sent()[index]?.text,
          sent,
          `A text of ${length} ${text.unit}, within the claimed limit, must arrive unchanged`,
        );
      }
      await expectChannelError(
        bench.channel.send(bench.platform.to, message(exactly(max + 1, text)), options),
        `Sending a text of ${max + 1} ${text.unit}, over the claimed limit,`,
        "too_large",
      );
    },
  },
  {
    group: "text",
    name: "sends split texts with emoji, Chinese and code blocks",
    applies: requiresLimit,
    async run({ open, definition }) {
      const { text } = definition.capabilities;
      await using bench = await open();
      const paragraph =
        '第一段。👩‍👩‍👧‍👦 **bold** and `code`, "quoted" \\ back.\n\n```js\nconst a = `${1}`;\n```\n\n';
      const long = paragraph.repeat(Math.ceil(((text.max ?? 0) * 2.2) / textLength(paragraph, text.unit)));
      const parts = splitText(long, text).map((part) => ({
        type: text.markup === "markdown" ? ("markdown" as const) : ("text" as const),
        text: part,
      }));
      const receipt = await bench.channel.send(bench.platform.to, { parts }, options);
      expectEqual(receipt.parts.length, parts.length, "The receipt must list every part of a long text");
      expectEqual(
        bench.platform.sent().length,
        parts.length,
        "Every part of a long text must become one message",
      );
    },
  },
  {
    group: "text",
    name: "sends one message for a part, even if the part grows when it is rendered",
    applies: requiresLimit,
    async run({ open, definition: { capabilities } }) {
      const { max = 0, markup } = capabilities.text;
      const types = markup === "markdown" ? (["text", "markdown"] as const) : (["text"] as const);
      for (const type of types) {
        await using bench = await open();
        const { channel, platform } = bench;
        // Characters that platforms escape or encode: HTML entities, backslashes, JSON.
        const text = '<a & b> "c" \\*d\\* \\_e\\_ '.repeat(max).slice(0, max).trimEnd();
        const sending = channel.send(platform.to, { parts: [{ type, text }] }, options);
        const receipt = await sending.catch((error: unknown) => error);
        if (isChannelError(receipt)) {
          expectEqual(
            receipt.code,
            "too_large",
            "A part that is too long when rendered must fail with too_large",
          );
          expectEqual(
            platform.sent(),
            [],
            "A part that is too long when rendered must not be sent in pieces",
          );
          continue;
        }
        await sending;
        expectEqual(
          (await sending).parts.map(({ messageId }) => messageId),
          platform.sent().map(({ messageId }) => messageId),
          `A ${type} part must be one message of the platform, whose id is in the receipt`,
        );
      }
    },
  },
  {
    group: "failures",
    name: "reports rate limits with retryAfterMs",
    applies: requiresPlatform,
    async run({ open }) {
      await using bench = await open();
      const fail = method(bench.platform, "fail");
      fail("rate_until");
      const withTime = await sendFailing(bench, "Sending over the rate limit", "rate_limited");
      expectEqual(withTime.retryAfterMs, 3000, "retryAfterMs must be the 3 seconds that the platform sent");
      fail("rate");
      const withoutTime = await sendFailing(bench, "Sending over the rate limit", "rate_limited");
      expectThat(
        (withoutTime.retryAfterMs ?? 0) > 0,
        "If the platform sends no time with a rate limit, the channel must set retryAfterMs to a default",
      );
      expectEqual(bench.platform.sent(), [], "A message that was rate-limited must not be sent");
    },
  },
  {
    group: "failures",
    name: "distinguishes failures from unknown outcomes, and retries without duplicates",
    applies: requiresPlatform,
    async run({ open, definition }) {
      await using bench = await open();
      const fail = method(bench.platform, "fail");
      fail("server");
      await sendFailing(bench, "Sending during a server error", "transient", "unknown_outcome");
      fail("lost_response");
      await sendFailing(bench, "Sending a message whose response is lost", "unknown_outcome");
      expectEqual(bench.platform.sent().length, 1, "A message whose response is lost must be sent once");
      if (definition.capabilities.delivery.idempotencyKey === undefined) return;
      await bench.channel.send(bench.platform.to, message("one"), options);
      expectEqual(
        bench.platform.sent().length,
        1,
        "Sending a message again with the same idempotency key must not create a second message",
      );
    },
  },
  {
    group: "failures",
    name: "rejects if already aborted",
    applies: requiresPlatform,
    async run({ open }) {
      await using bench = await open();
      const { channel, platform } = bench;
      await expectChannelError(
        channel.send(platform.to, message("one"), { ...options, signal: AbortSignal.abort() }),
        "Sending with a signal that has already fired",
        "transient",
      );
      expectEqual(platform.sent(), [], "Nothing must be sent if the signal has already fired");
    },
  },
  {
    group: "failures",
    name: "ends a send when its signal fires, even if the platform never responds",
    applies: requiresPlatform,
    async run({ open, waitMs }) {
      await using bench = await open();
      const { channel, platform } = bench;
      method(platform, "fail")("silent");
      const caller = new AbortController();
      const sending = channel.send(platform.to, message("one"), { ...options, signal: caller.signal });
      sending.catch(() => {});
      const isSent = () => platform.sent().length === 1;
      await eventually(isSent, "The platform must have the message although it does not respond", waitMs);
      caller.abort();
      const what = "Sending a message to which the platform does not respond";
      await expectChannelError(within(waitMs, sending, what), what, "unknown_outcome");
    },
  },
  {
    group: "failures",
    name: "fails during an outage and recovers after it",
    applies: requiresPlatform,
    async run({ open }) {
      await using bench = await open();
      const { platform, channel } = bench;
      const setAway = method(platform, "setAway");
      setAway(true);
      await sendFailing(bench, "Sending during an outage", "transient", "unknown_outcome");
      setAway(false);
      await channel.send(platform.to, message("one"), options);
      expectEqual(sentTexts(bench), ["one"], "Sending must work again after an outage");
      expectEqual(channel.health().state, "ready", "The health must be ready after an outage");
    },
  },
  {
    group: "failures",
    name: "finds a message with an unknown outcome",
    applies: ({ capabilities }) => (capabilities.delivery.readback === true ? undefined : "no readback"),
    async run({ open }) {
      await using bench = await open();
      const content = { type: "text", text: "looked for" } as const;
      const intent = {
        to: bench.platform.to,
        idempotencyKey: "conf-1",
        part: 0,
        content,
        attemptedAt: Date.now(),
      };
      const reconcile = method(bench.channel, "reconcile");
      const before = await reconcile(intent, never);
      expectThat(before.outcome !== "sent", "reconcile must not find a message that was never sent");
      const receipt = await bench.channel.send(bench.platform.to, { parts: [content] }, options);
      expectEqual(
        await reconcile(intent, never),
        { outcome: "sent", messageId: receipt.parts[0]?.messageId },
        "reconcile must find a message that was sent, with its id",
      );
    },
  },
  {
    group: "failures",
    name: "reveals no secrets in errors and logs",
    applies: ({ capabilities }) => (capabilities.transports.includes("internal") ? "no secrets" : undefined),
    async run({ open }) {
      await using bench = await open();
      method(bench.platform, "revoke")();
      const error = await sendFailing(bench, "Sending with revoked credentials", "auth");
      expectEqual(error.scope, "account", "The error of revoked credentials must have the scope account");
      const { logged, platform, channel } = bench;
      const output = [
        ...logged,
        error.message,
        JSON.stringify(error),
        String(error.cause),
        JSON.stringify(channel.health()),
      ].join("\n");
      for (const [index, secret] of platform.secrets.entries())
        expectThat(
          !output.includes(secret),
          `Secret ${index} of the harness appears in an error or a log entry`,
        );
      expectThat(
        channel.health().state !== "ready",
        "The health must not be ready after the platform has rejected the credentials",
      );
    },
  },
];
