import { expectTypeOf, test } from "vitest";
import {
  type AddressCodec,
  type ChannelLogger,
  type ChannelState,
  type Clock,
  catchRefusal,
  createAddressCodec,
  createBackfill,
  createEditedDraft,
  createWebhook,
  type DraftOptions,
  type MessageEvent,
  normalizeEvent,
} from "../src/index.ts";

declare const state: ChannelState;
declare const clock: Clock;
declare const logger: ChannelLogger;
declare const options: DraftOptions;
declare const message: MessageEvent;

test("an address has the type that `read` returns", () => {
  const codec = createAddressCodec("rooms", "Rooms", {
    write: ({ room }: { readonly room: string }) => [room],
    read: ([room]) => ({ room }),
  });
  expectTypeOf(codec).toEqualTypeOf<AddressCodec<{ readonly room: string }>>();
});

test("`emit` of a backfill receives what `read` returns", () => {
  createBackfill({
    state,
    clock,
    botId: "bot",
    read: async () => [{ text: "x" }],
    emit: async (read) => {
      expectTypeOf(read).toEqualTypeOf<{ text: string }>();
      return "accepted";
    },
  });
});

test("`handle` of a webhook receives what `verify` returns", () => {
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

test("the content of a draft has the type that `snapshot` returns", () => {
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

test("normalizeEvent keeps the type of the event, and catchRefusal adds that of the fallback", () => {
  expectTypeOf(normalizeEvent(message)).toEqualTypeOf<MessageEvent>();
  expectTypeOf(catchRefusal(Promise.resolve(1), undefined)).toEqualTypeOf<Promise<number | undefined>>();
});
