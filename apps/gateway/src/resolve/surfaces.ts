import { createWebHub, MAX_ATTACHMENT_BYTES, type WebHub } from "@signalbox/channel-web";
import type { GuardedFetch } from "@signalbox/tools";

/** The channels of the gateway's own clients, by id. */
export interface Surfaces {
  /** The page and other programs that watch a conversation; also what `/hooks` brings in. */
  readonly web: WebHub;
  /** The OpenAI surface. */
  readonly api: WebHub;
}

/** Makes the gateway's own channels. `fetch` gets the attachments that clients name by their address. */
export function createSurfaces(fetch: GuardedFetch): Surfaces {
  const fetchUrl = async (url: string, signal: AbortSignal) => {
    const { bytes, contentType } = await fetch(url, { signal, maxBytes: MAX_ATTACHMENT_BYTES });
    return { body: ReadableStream.from([bytes]), mimeType: contentType, size: bytes.byteLength };
  };
  return {
    web: createWebHub({ fetchUrl }),
    api: createWebHub({ id: "api", label: "API", awaitsSingleAnswer: true, fetchUrl }),
  };
}
