import { expectTypeOf, test } from "vitest";
import {
  type AddressCodec,
  type ChannelLogger,
  type ChannelState,
  type Clock,
  createAddressCodec,
  createBackfill,
  createEditedDraft,
  createWebhook,
  type DraftOptions,
  type MessageEvent,
  normalizeEvent,
  unlessRefused,
} from "../src/index.ts";

declare const state: ChannelState;
declare const clock: Clock;
declare const logger: ChannelLogger;
declare const options: DraftOptions;
declare const message: MessageEvent;

test("an address is what is made of its parts", () => {
  const codec = createAddressCodec("rooms", "Rooms", {
    write: ({ room }: { readonly room: string }) => [room],
    read: ([room]) => ({ room }),
  });
  expectTypeOf(codec).toEqualTypeOf<AddressCodec<{ readonly room: string }>>();
});

test("what is read of a platform's past is what is taken", () => {
  createBackfill({
    state,
    clock,
    botId: "bot",
    read: async () => [{ text: "x" }],
    take: async (read) => {
      expectTypeOf(read).toEqualTypeOf<{ text: string }>();
      return "accepted";
    },
  });
});

test("what a webhook verified is what it hands on", () => {
  createWebhook({
    maxBytes: 1,
    logger,
    verify: () => ({ kind: "event", event: { id: 1 } }),
    handle: async (event) => {
      expectTypeOf(event).toEqualTypeOf<{ id: number }>();
      return "accepted";
    },
  });
});

test("a draft's content is what the platform takes as text", () => {
  createEditedDraft(
    {
      snapshot: (text) => ({ text }),
      render: () => ({ text: "" }),
      create: async (content) => {
        expectTypeOf(content).toEqualTypeOf<{ text: string }>();
        return "id";
      },
      change: async () => {},
      remove: async () => {},
      sendRest: async () => ({ parts: [] }),
    },
    options,
  );
});

test("an event stays what it is, and a refusal has another value", () => {
  expectTypeOf(normalizeEvent(message)).toEqualTypeOf<MessageEvent>();
  expectTypeOf(unlessRefused(Promise.resolve(1), undefined)).toEqualTypeOf<Promise<number | undefined>>();
});
