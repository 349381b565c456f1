import { createInMemoryCache, createInMemoryState, systemClock } from "@signalbox/channel";
import { MAX_ATTACHMENT_BYTES } from "@signalbox/channel-web";
import { expect, it } from "vitest";
import { createSurfaces } from "./surfaces.ts";

const NONE = { open: async () => undefined };

it("fetches what clients name by its address through the gateway's one way out, and no more than it may be", async () => {
  const asked: unknown[] = [];
  const { api } = createSurfaces(
    async (url, options) => {
      asked.push([url, options?.maxBytes]);
      return { url, contentType: "image/png", bytes: new Uint8Array([1, 2]) };
    },
    { uploads: NONE, carried: NONE },
  );
  const quiet = () => {};
  const { signal } = new AbortController();
  const channel = await api.definition.create({
    config: {},
    account: "main",
    signal,
    fetch,
    clock: systemClock,
    commands: [],
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    emit: async () => "accepted",
    cache: createInMemoryCache({ clock: systemClock }),
    state: createInMemoryState(),
  });
  const picture = { kind: "image", mimeType: "image/png", ref: "https://pictures.example/dot.png" } as const;
  const fetched = await channel.fetchMedia?.(picture, signal);
  expect(fetched).toMatchObject({ mimeType: "image/png", size: 2 });
  expect(asked).toEqual([["https://pictures.example/dot.png", MAX_ATTACHMENT_BYTES]]);
});
