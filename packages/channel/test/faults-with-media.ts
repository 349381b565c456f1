import type { FetchedMedia, MediaRef } from "../src/index.ts";
import { servers } from "./echo-server.ts";
import { another, type Context, type Fault, running } from "./planting.ts";

/** Returns the platform's response without any checks. */
function fetchUnchecked({ config }: Context, { mimeType }: MediaRef): FetchedMedia {
  const answer = servers.get(config.server)?.attachment() ?? new Response();
  return { body: answer.body ?? new Blob().stream(), mimeType };
}

/** Faults in inbound and outbound attachments. */
export const faultsWithMedia: readonly Fault[] = [
  {
    fault: "fetches any reference",
    check: "media: fetches an attachment and rejects foreign references",
    plant: running((_, context) => ({ fetchMedia: async (media) => fetchUnchecked(context, media) })),
  },
  {
    fault: "drops the first byte of an attachment",
    check: "media: fetches attachments up to its size limit",
    plant: running(({ fetchMedia }) => ({
      fetchMedia: async (media, signal) => {
        const fetched = await fetchMedia?.(media, signal);
        if (fetched === undefined) throw new Error("the channel has no fetchMedia");
        const bytes = new Uint8Array(await new Response(fetched.body).arrayBuffer());
        return { ...fetched, body: new Blob([bytes.subarray(1)]).stream() };
      },
    })),
  },
  {
    fault: "does not limit the size of attachments",
    check: "media: aborts downloads over its size limit, announced or not",
    plant: running((_, context) => ({ fetchMedia: async (media) => fetchUnchecked(context, media) })),
  },
  {
    fault: "trusts the type in the reference",
    check: "media: reports the type from the platform's response",
    plant: running((_, context) => ({ fetchMedia: async (media) => fetchUnchecked(context, media) })),
  },
  {
    fault: "requests any address in a reference",
    check: "media: requests attachments only from the platform",
    plant: running(() => ({
      fetchMedia: async ({ ref, mimeType }) => {
        const { body } = await fetch((ref as { readonly address: string }).address);
        return { body: body ?? new Blob().stream(), mimeType };
      },
    })),
  },
  {
    fault: "follows redirects to other servers",
    check: "media: does not follow cross-origin redirects",
    plant: running((channel, { config }) => ({
      fetchMedia: async (media, signal) => {
        const elsewhere = servers.get(config.server)?.attachment().headers.get("location");
        if (elsewhere) await fetch(elsewhere);
        return await (channel.fetchMedia?.(media, signal) ?? Promise.reject(new Error("no attachments")));
      },
    })),
  },
  {
    fault: "changes the bytes of attachments",
    check: "attachments: sends each claimed kind unchanged and in order",
    plant: running(({ send }) => ({
      send: (to, message, { openMedia, ...options }) =>
        send(to, message, {
          ...options,
          ...(openMedia && {
            openMedia: async (part) => {
              const bytes = new Uint8Array(await new Response(await openMedia(part)).arrayBuffer());
              return new Blob([bytes.fill(0, 0, 1)]).stream();
            },
          }),
        }),
    })),
  },
  {
    fault: "opens attachments before checking them",
    check: "attachments: rejects oversized, empty and unclaimed attachments before opening them",
    plant: running(({ send }) => ({
      send: async (to, message, options) => {
        for (const part of message.parts) if (part.type === "media") await options.openMedia?.(part);
        return send(to, message, options);
      },
    })),
  },
  {
    fault: "sends the name of an attachment that failed",
    check: "attachments: sends nothing if the bytes are missing, incomplete or wrong in length",
    plant: running(({ send }) => ({
      send: (to, message, options) =>
        send(to, message, options).catch(async (error: unknown) => {
          await send(to, { parts: [{ type: "text", text: "[file]" }] }, options);
          throw error;
        }),
    })),
  },
  {
    fault: "ignores the idempotency key of attachments",
    check: "attachments: resends an attachment without a duplicate",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, idempotencyKey: another() }),
    })),
  },
];
