import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Channel, defineChannel } from "../src/index.ts";

interface Address {
  readonly room: string;
}

declare const channel: Channel<Address>;

const parts = {
  specVersion: 1,
  id: "rooms",
  meta: { label: "Rooms", fields: {} },
  config: z.object({ token: z.string() }),
  codec: { encode: ({ room }: Address) => room, decode: (room: string) => ({ room }) },
} as const;

const plain = {
  text: { max: 100, unit: "bytes", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["socket"],
} as const;

test("settings and addresses have the types of the schema and the codec", () => {
  const rooms = defineChannel({
    ...parts,
    capabilities: plain,
    async create({ config }) {
      expectTypeOf(config).toEqualTypeOf<{ token: string }>();
      return channel;
    },
  });
  expectTypeOf(rooms.codec.decode("a")).toEqualTypeOf<Address>();
});

test("capabilities require their methods", () => {
  defineChannel({
    ...parts,
    capabilities: { ...plain, edit: { ownOnly: true } },
    // @ts-expect-error `edit` is missing
    create: async () => channel,
  });
  defineChannel({
    ...parts,
    capabilities: { ...plain, edit: { ownOnly: true } },
    create: async () => ({ ...channel, edit: async () => {} }),
  });
  defineChannel({
    ...parts,
    capabilities: { ...plain, transports: ["webhook"] },
    // @ts-expect-error `webhook` is missing
    create: async () => channel,
  });
});
