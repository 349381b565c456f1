import { createWebHub, MAX_ATTACHMENT_BYTES, type WebHub, type WebHubOptions } from "@signalbox/channel-web";
import type { GuardedFetch } from "@signalbox/tools";

/** Channels of the gateway's own clients, by id. */
export interface Surfaces {
  /** The console and other clients that watch a conversation. Also receives messages from `/hooks`. */
  readonly web: WebHub;
  /** The OpenAI-compatible API. */
  readonly api: WebHub;
}

/** Access to files by owner and id. */
interface Files {
  open: NonNullable<WebHubOptions["openUpload"]>;
}

/**
 * Creates the gateway's own channels.
 *
 * @param fetch downloads attachments that clients name by URL
 */
export function createSurfaces(
  fetch: GuardedFetch,
  { uploads, carried }: { readonly uploads: Files; readonly carried: Files },
): Surfaces {
  const fetchUrl = async (url: string, signal: AbortSignal) => {
    const { bytes, contentType } = await fetch(url, { signal, maxBytes: MAX_ATTACHMENT_BYTES });
    return { body: ReadableStream.from([bytes]), mimeType: contentType, size: bytes.byteLength };
  };
  const opening =
    (files: Files): Files["open"] =>
    (owner, id) =>
      files.open(owner, id);
  return {
    web: createWebHub({ fetchUrl, openUpload: opening(uploads) }),
    api: createWebHub({
      id: "api",
      label: "API",
      awaitsSingleAnswer: true,
      fetchUrl,
      openUpload: opening(carried),
    }),
  };
}
