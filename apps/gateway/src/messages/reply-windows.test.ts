import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { plainChannel, plainMessage } from "../../test/support/plain-channel.ts";
import { createReplyWindows, explainClosed } from "./reply-windows.ts";

const HOUR = 3_600_000;
const TO = { channel: "plain", account: "main", address: "plain:room" };

async function open(replies: { windowMs: number; max?: number } | null = { windowMs: HOUR, max: 2 }) {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  let now = Date.UTC(2026, 0, 1);
  const { definition } = plainChannel();
  const { replies: _, ...capabilities } = definition.capabilities;
  const create = () =>
    createReplyWindows({
      kv: store.kv,
      getChannel: () => ({ ...definition, capabilities: { ...capabilities, ...(replies && { replies }) } }),
      logger: { warn() {} },
      now: () => now,
    });
  return {
    windows: create(),
    create,
    message: (more = {}) => plainMessage("1", "hello", { timestamp: now, ...more }),
    advance: (ms: number) => {
      now += ms;
      return now;
    },
  };
}

it("is open for as long as the platform accepts replies after a person's message", async () => {
  const { windows, message, advance } = await open();
  expect(await windows.findClosed(TO)).toEqual({ platform: "Plain", windowMs: HOUR });
  const written = message();
  windows.heard(written);
  expect(await windows.findClosed(TO)).toBeUndefined();
  expect(await windows.findClosed({ ...TO, address: "plain:other" })).toBeDefined();
  const end = advance(HOUR - 1);
  expect(await windows.findClosed(TO)).toBeUndefined();
  expect(await windows.findClosed(TO, end + 1)).toMatchObject({ heardAt: written.timestamp });
});

it("is closed after the allowed number of messages, until a person writes again", async () => {
  const { windows, create, message, advance } = await open();
  windows.heard(message());
  windows.sent(TO, 1);
  expect(await windows.findClosed(TO)).toBeUndefined();
  windows.sent(TO, 1);
  expect(await windows.findClosed(TO)).toMatchObject({ used: 2 });
  expect(await create().findClosed(TO), "another process reads the same state").toMatchObject({ used: 2 });
  advance(1);
  windows.heard(message());
  expect(await windows.findClosed(TO)).toBeUndefined();
});

it("ignores bots, the account itself, and older messages that arrive late", async () => {
  const { windows, message, advance } = await open();
  windows.heard(message({ sender: { id: "b", isBot: true, isSelf: false } }));
  windows.heard(message({ sender: { id: "s", isBot: true, isSelf: true } }));
  expect(await windows.findClosed(TO)).toBeDefined();
  const old = message();
  advance(HOUR / 2);
  windows.heard(message());
  windows.sent(TO, 2);
  windows.heard(old);
  expect(await windows.findClosed(TO)).toMatchObject({ used: 2 });
  windows.heard(message({ timestamp: advance(1) + HOUR }));
  advance(HOUR);
  expect(await windows.findClosed(TO), "a time in the future does not extend the window").toBeDefined();
});

it("is always open on platforms without a window", async () => {
  const { windows } = await open(null);
  expect(await windows.findClosed(TO)).toBeUndefined();
});

it("explains to the model what the person has to do", () => {
  expect(explainClosed({ platform: "WhatsApp", windowMs: 24 * HOUR })).toBe(
    "Nothing was sent: WhatsApp accepts messages in that conversation only within 24 h after a person wrote there, and that time is over. The person must write first.",
  );
});
