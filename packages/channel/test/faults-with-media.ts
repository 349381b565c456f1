import type { FetchedMedia, MediaRef } from "../src/index.ts";
import { servers } from "./echo-server.ts";
import { type Context, type Fault, running } from "./planting.ts";

/** An attachment of whatever the platform answers, as a channel gives it that looks at nothing. */
function unlooked({ config }: Context, { mimeType }: MediaRef): FetchedMedia {
  const answer = servers.get(config.server)?.attachment() ?? new Response();
  return { body: answer.body ?? new Blob().stream(), mimeType };
}

/** What can be wrong with attachments that come in. */
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
];
