import { createWebHub, MAX_ATTACHMENT_BYTES, type WebHubOptions } from "@signalbox/channel-web";
import type { GuardedFetch } from "@signalbox/tools";
import type { Surfaces } from "./submit.ts";

/**
 * Makes the gateway's own channels. `fetch` gets the attachments that clients name by their address, `uploads` has
 * those that they send.
 */
export function createSurfaces(
  fetch: GuardedFetch,
  uploads: { open: NonNullable<WebHubOptions["openUpload"]> },
): Surfaces {
  const fetchUrl = async (url: string, signal: AbortSignal) => {
    const { bytes, contentType } = await fetch(url, { signal, maxBytes: MAX_ATTACHMENT_BYTES });
    return { body: ReadableStream.from([bytes]), mimeType: contentType, size: bytes.byteLength };
  };
  return {
    web: createWebHub({ fetchUrl, openUpload: (owner, id) => uploads.open(owner, id) }),
    api: createWebHub({ id: "api", label: "API", awaitsSingleAnswer: true, fetchUrl }),
  };
}
