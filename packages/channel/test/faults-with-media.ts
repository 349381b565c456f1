import type { FetchedMedia, MediaRef } from "../src/index.ts";
import { servers } from "./echo-server.ts";
import { another, type Context, type Fault, running } from "./planting.ts";

/** An attachment of whatever the platform answers, as a channel gives it that looks at nothing. */
function unlooked({ config }: Context, { mimeType }: MediaRef): FetchedMedia {
  const answer = servers.get(config.server)?.attachment() ?? new Response();
  return { body: answer.body ?? new Blob().stream(), mimeType };
}

/** What can be wrong with attachments, whichever way they go. */
export const faultsWithMedia: readonly Fault[] = [
  {
    fault: "fetches whatever it is given",
    check: "media: fetches an attachment, and refuses a reference it did not make",
    plant: running((_, context) => ({ fetchMedia: async (media) => unlooked(context, media) })),
  },
  {
    fault: "loses the first byte of an attachment",
    check: "media: gives an attachment as large as it claims",
    plant: running(({ fetchMedia }) => ({
      fetchMedia: async (media, signal) => {
        const fetched = await fetchMedia?.(media, signal);
        if (fetched === undefined) throw new Error("there are no attachments");
        const bytes = new Uint8Array(await new Response(fetched.body).arrayBuffer());
        return { ...fetched, body: new Blob([bytes.subarray(1)]).stream() };
      },
    })),
  },
  {
    fault: "counts the bytes of an attachment when all are there",
    check: "media: breaks off what is larger than it claims, announced or not",
    plant: running((_, context) => ({ fetchMedia: async (media) => unlooked(context, media) })),
  },
  {
    fault: "takes an attachment for what a sender calls it",
    check: "media: says of which type the platform's answer is, not what was claimed",
    plant: running((_, context) => ({ fetchMedia: async (media) => unlooked(context, media) })),
  },
  {
    fault: "asks any address for an attachment",
    check: "media: asks nobody but the platform, whatever address stands in a reference",
    plant: running(() => ({
      fetchMedia: async ({ ref, mimeType }) => {
        const { body } = await fetch((ref as { readonly address: string }).address);
        return { body: body ?? new Blob().stream(), mimeType };
      },
    })),
  },
  {
    fault: "goes where the platform's answer sends it",
    check: "media: follows no answer that leads to another server",
    plant: running((channel, { config }) => ({
      fetchMedia: async (media, signal) => {
        const elsewhere = servers.get(config.server)?.attachment().headers.get("location");
        if (elsewhere) await fetch(elsewhere);
        return await (channel.fetchMedia?.(media, signal) ?? Promise.reject(new Error("no attachments")));
      },
    })),
  },
  {
    fault: "cuts attachments",
    check: "attachments: sends each kind it claims, byte for byte and among texts in order",
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
    fault: "opens an attachment before it looks at it",
    check: "attachments: refuses before it opens it what is too large, empty or of a kind it does not claim",
    plant: running(({ send }) => ({
      send: async (to, message, options) => {
        for (const part of message.parts) if (part.type === "media") await options.openMedia?.(part);
        return send(to, message, options);
      },
    })),
  },
  {
    fault: "names an attachment that it cannot send",
    check: "attachments: sends nothing where the bytes are gone, break off or are not as many as was said",
    plant: running(({ send }) => ({
      send: (to, message, options) =>
        send(to, message, options).catch(async (error: unknown) => {
          await send(to, { parts: [{ type: "text", text: "[file]" }] }, options);
          throw error;
        }),
    })),
  },
  {
    fault: "sends an attachment anew each time",
    check: "attachments: repeats an attachment without a second message",
    plant: running(({ send }) => ({
      send: (to, message, options) => send(to, message, { ...options, idempotencyKey: another() }),
    })),
  },
];
