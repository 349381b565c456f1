import { strict as assert } from "node:assert";
import type { SendOptions } from "../contract/messages.ts";
import { splitText } from "../markdown/split-text.ts";
import { textLength } from "../text.ts";
import { type Bench, exactly, never } from "./bench.ts";
import { type Check, method, withPlatform } from "./check.ts";
import { failing } from "./failing.ts";
import { texts, words } from "./steps.ts";

const options: SendOptions = { idempotencyKey: "conf-1", signal: never };

/** The error of a send of one word; `what` says why it has to fail. */
function failedSend<Address>({ channel, platform }: Bench<Address>, what: string, how = options) {
  return failing(channel.send(platform.to, words("one"), how), what);
}

/** What goes out. */
export const sendingChecks: readonly Check[] = [
  {
    group: "sending",
    name: "sends every part once, in order, with a receipt",
    async run({ open }) {
      await using bench = await open();
      const told: (readonly [number, number])[] = [];
      const onPart = (part: { index: number }) => void told.push([part.index, bench.platform.sent().length]);
      const receipt = await bench.channel.send(bench.platform.to, words("one", "two", "three"), {
        ...options,
        onPart,
      });
      assert.deepEqual(
        receipt.parts.map((part) => part.index),
        [0, 1, 2],
      );
      assert.deepEqual(
        told,
        [0, 1, 2].map((index) => [index, index + 1]),
        "[part, messages out]: onPart tells each part before the next one is tried",
      );
      assert.equal(new Set(receipt.parts.map((part) => part.messageId)).size, 3);
      assert.deepEqual(texts(bench), ["one", "two", "three"]);
    },
  },
  {
    group: "sending",
    name: "goes on at the part it is told",
    async run({ open }) {
      await using bench = await open();
      const receipt = await bench.channel.send(bench.platform.to, words("one", "two", "three"), {
        ...options,
        startAt: 2,
      });
      assert.deepEqual(
        receipt.parts.map((part) => part.index),
        [2],
      );
      assert.deepEqual(texts(bench), ["three"]);
    },
  },
  {
    group: "text",
    name: "takes max − 1 and max, and refuses max + 1, in its unit",
    applies: ({ capabilities }) => (capabilities.text.max === undefined ? "no limit" : undefined),
    async run({ open, definition }) {
      const { text } = definition.capabilities;
      await using bench = await open();
      for (const [index, length] of [(text.max ?? 0) - 1, text.max ?? 0].entries()) {
        const sent = exactly(length, text);
        await bench.channel.send(bench.platform.to, words(sent), {
          ...options,
          idempotencyKey: `conf-${index}`,
        });
        assert.equal(bench.platform.sent()[index]?.text, sent);
      }
      const over = bench.channel.send(bench.platform.to, words(exactly((text.max ?? 0) + 1, text)), options);
      assert.equal((await failing(over, "a text of max + 1")).code, "too_large");
    },
  },
  {
    group: "text",
    name: "takes what the gateway cuts: emoji, Chinese and code blocks",
    applies: ({ capabilities }) => (capabilities.text.max === undefined ? "no limit" : undefined),
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
      assert.ok(parts.length >= 3);
      const receipt = await bench.channel.send(bench.platform.to, { parts }, options);
      assert.equal(receipt.parts.length, parts.length);
      assert.equal(bench.platform.sent().length, parts.length);
    },
  },
  {
    group: "failures",
    name: "says that it is too fast, and until when",
    applies: withPlatform,
    async run({ open }) {
      await using bench = await open();
      const fail = method(bench.platform, "fail");
      fail("rate-until");
      const until = await failedSend(bench, "a send that the platform limits, with a time,");
      assert.equal(until.code, "rate_limited");
      assert.equal(until.retryAfterMs, 3000);
      fail("rate");
      const without = await failedSend(bench, "a send that the platform limits");
      assert.equal(without.code, "rate_limited");
      assert.ok((without.retryAfterMs ?? 0) > 0, "a guess, where the platform names no time");
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group: "failures",
    name: "tells a failure from an open outcome, and repeats without a second message",
    applies: withPlatform,
    async run({ open, definition }) {
      await using bench = await open();
      const fail = method(bench.platform, "fail");
      fail("server");
      const server = await failedSend(bench, "a send that breaks the platform");
      assert.ok(server.code === "transient" || server.code === "unknown_outcome", server.code);
      fail("lost-answer");
      const lost = await failedSend(bench, "a send whose answer is lost");
      assert.equal(lost.code, "unknown_outcome");
      assert.equal(bench.platform.sent().length, 1);
      if (definition.capabilities.delivery.idempotencyKey === undefined) return;
      await bench.channel.send(bench.platform.to, words("one"), options);
      assert.equal(bench.platform.sent().length, 1);
    },
  },
  {
    group: "failures",
    name: "gives up before it is tried where its signal has fired",
    applies: withPlatform,
    async run({ open }) {
      await using bench = await open();
      const signal = AbortSignal.abort();
      const error = await failedSend(bench, "a send under a signal that has fired", { ...options, signal });
      assert.equal(error.code, "transient", "nothing went out, so it may be tried again");
      assert.deepEqual(bench.platform.sent(), []);
    },
  },
  {
    group: "failures",
    name: "fails while the platform is away, and works again when it is back",
    applies: withPlatform,
    async run({ open }) {
      await using bench = await open();
      const { platform, channel } = bench;
      const setAway = method(platform, "setAway");
      setAway(true);
      const { code } = await failedSend(bench, "a send to nobody");
      assert.ok(code === "transient" || code === "unknown_outcome", `${code} would not be tried again`);
      setAway(false);
      await channel.send(platform.to, words("one"), options);
      assert.deepEqual(texts(bench), ["one"]);
      assert.equal(channel.health().state, "ready", "health after the platform came back");
    },
  },
  {
    group: "failures",
    name: "finds a doubtful message again",
    applies: ({ capabilities }) => (capabilities.delivery.readback === true ? undefined : "no readback"),
    async run({ open }) {
      await using bench = await open();
      const content = { type: "text", text: "looked for" } as const;
      const base = {
        to: bench.platform.to,
        idempotencyKey: "conf-1",
        part: 0,
        content,
        attemptedAt: Date.now(),
      };
      const look = method(bench.channel, "reconcile");
      assert.notEqual((await look(base, never)).outcome, "sent");
      const receipt = await bench.channel.send(bench.platform.to, { parts: [content] }, options);
      assert.deepEqual(await look(base, never), { outcome: "sent", messageId: receipt.parts[0]?.messageId });
    },
  },
  {
    group: "failures",
    name: "shows no secret in errors and logs",
    applies: ({ capabilities }) => (capabilities.transports.includes("internal") ? "no secrets" : undefined),
    async run({ open }) {
      await using bench = await open();
      method(bench.platform, "revoke")();
      const error = await failedSend(bench, "a send with refused credentials");
      assert.equal(error.code, "auth");
      assert.equal(error.scope, "account");
      const { logged, platform, channel } = bench;
      const told = [
        error.message,
        JSON.stringify(error),
        String(error.cause),
        JSON.stringify(channel.health()),
      ];
      const said = [...logged, ...told].join("\n");
      for (const secret of platform.secrets) assert.ok(!said.includes(secret), "a secret is shown");
      assert.notEqual(bench.channel.health().state, "ready");
    },
  },
];
