import {
  ChannelError,
  createFetchedMedia,
  type FetchedMedia,
  isPayload,
  type MediaRef,
  parsePayload,
  textAt,
} from "@signalbox/channel";
import { addressCodec, type SignalAddress } from "./address.ts";
import { toError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { SignalCli } from "./rpc.ts";

const WHAT = "fetching an attachment";
/** The start of a successful response. Source: `JsonAttachmentData`. */
const START = /"result"\s*:\s*\{\s*"data"\s*:\s*"/;
/** Maximum length of the response before the data, and of an error response, in characters. */
const MAX_START = 65_536;

/**
 * Fetches an attachment or a sticker from the daemon's store. The daemon responds with base64 in JSON, which is decoded
 * while it arrives.
 *
 * @throws ChannelError `invalid` if this channel did not create the reference, `not_found` if the daemon no longer has
 * the file
 */
export async function fetchMedia(cli: SignalCli, ref: MediaRef, signal: AbortSignal): Promise<FetchedMedia> {
  const { method, params, mimeType } = parseRef(ref);
  const call = { what: WHAT, write: false, signal };
  const { body, headers } = await cli.open(method, params, call);
  if (body === null) throw new ChannelError("transient", `Signal: ${WHAT}: the response is empty`);
  const maxLength = Math.ceil(limits.mediaBytes / 3) * 4 + MAX_START;
  if (Number(headers.get("content-length") ?? 0) > maxLength) {
    void body.cancel().catch(() => {});
    throw new ChannelError("too_large", `The attachment is larger than ${limits.mediaBytes} bytes`);
  }
  const decoded = await decodeData(body);
  const type = new Headers({ "content-type": mimeType });
  return createFetchedMedia({ body: decoded, headers: type }, ref, limits.mediaBytes);
}

interface Source {
  readonly method: "getAttachment" | "getSticker";
  readonly params: object;
  /** The type from the message, because the daemon's response has none. */
  readonly mimeType: string;
}

/** Ids are file names in the daemon's store, so anything that could be a path is refused. */
function parseRef({ ref }: MediaRef): Source {
  const fields = isPayload(ref) ? ref : {};
  const id = textAt(fields, "id");
  const packId = textAt(fields, "packId");
  const { stickerId } = fields;
  if (packId !== undefined && /^[0-9a-f]{32}$/i.test(packId) && Number.isSafeInteger(stickerId))
    return { method: "getSticker", params: { packId, stickerId }, mimeType: "image/webp" };
  const from = isPayload(fields["from"]) ? toTarget(fields["from"]) : undefined;
  if (id === undefined || !/^[A-Za-z0-9_-]{1,100}(?:\.[A-Za-z0-9]{1,16})?$/.test(id) || from === undefined)
    throw new ChannelError("invalid", "Signal: not an attachment that signal-cli has stored");
  const mimeType = textAt(fields, "mimeType") ?? "application/octet-stream";
  return { method: "getAttachment", params: { id, ...from }, mimeType };
}

function toTarget({ person, group }: Readonly<Record<string, unknown>>): object | undefined {
  const address: SignalAddress | undefined =
    typeof group === "string" ? { group } : typeof person === "string" ? { person } : undefined;
  try {
    if (address === undefined) return undefined;
    addressCodec.decode(addressCodec.encode(address));
  } catch {
    return undefined;
  }
  return "group" in address ? { groupId: address.group } : { recipient: address.person };
}

/** Returns the bytes of the response's `data`. Throws the error of an error response. */
async function decodeData(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const texts = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>);
  const reader = texts.getReader();
  let start = "";
  let match: RegExpExecArray | null = null;
  while (match === null && start.length < MAX_START) {
    const { done, value } = await read(reader);
    if (done) break;
    start += value;
    match = START.exec(start);
  }
  if (match === null) {
    await reader.cancel().catch(() => {});
    const error = parsePayload(start)?.["error"];
    if (isPayload(error)) throw toError(error, WHAT, false);
    throw new ChannelError("transient", `Signal: ${WHAT}: the response cannot be read`);
  }
  return createDecoder(reader, start.slice(match.index + match[0].length));
}

async function read(reader: ReadableStreamDefaultReader<string>) {
  try {
    return await reader.read();
  } catch {
    throw new ChannelError("transient", `Signal: ${WHAT}: the response broke off`);
  }
}

/** Decodes base64 up to the closing quote. */
function createDecoder(
  reader: ReadableStreamDefaultReader<string>,
  first: string,
): ReadableStream<Uint8Array> {
  let rest = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const quote = rest.indexOf('"');
        const end = quote < 0 ? rest.length - (rest.length % 4) : quote;
        if (end > 0) controller.enqueue(new Uint8Array(Buffer.from(rest.slice(0, end), "base64")));
        if (quote >= 0) {
          controller.close();
          void reader.cancel().catch(() => {});
          return;
        }
        rest = rest.slice(end);
        if (end > 0) return;
        const { done, value } = await read(reader);
        if (done) throw new ChannelError("transient", `Signal: ${WHAT}: the response broke off`);
        rest += value;
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
