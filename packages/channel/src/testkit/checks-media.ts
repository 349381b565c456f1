import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Bench, never, within } from "./bench.ts";
import { type Check, method, required, requires } from "./check.ts";
import { expectChannelError, expectEqual, expectThat } from "./expect.ts";

/** Returns the harness's attachment and the channel's method that fetches it. */
function getMedia<Address>({ channel, platform }: Bench<Address>) {
  const { ref, content, answerWith, leadingTo } = required(platform.media, "media");
  return {
    fetchMedia: method(channel, "fetchMedia"),
    ref,
    content,
    answerWith: (answer: () => Response) => required(answerWith, "media.answerWith")(answer),
    leadingTo: (address: string) => required(leadingTo, "media.leadingTo")(address),
  };
}

/** Creates a stream that yields this many bytes and then stays open without further data. */
function createSilentStream(bytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(65_536);
  const silence = Promise.withResolvers<void>();
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return silence.promise;
      const next = piece.subarray(0, left);
      left -= next.byteLength;
      controller.enqueue(next);
    },
    cancel: () => silence.resolve(),
  });
}

async function countBytes(body: ReadableStream<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of body) length += piece.byteLength;
  return length;
}

/** Starts an internal server that the channel must not be tricked into calling. Disposing of it stops it. */
async function startInternalServer() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    response.end("internal data");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/attachments/1/2/a`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const applies = requires("media", "no media");

/** Checks of inbound attachments. */
export const mediaChecks: readonly Check[] = [
  {
    group: "media",
    name: "fetches an attachment and rejects foreign references",
    applies,
    async run({ open }) {
      await using bench = await open();
      const { fetchMedia, ref, content } = getMedia(bench);
      const fetched = await fetchMedia(ref, never);
      expectEqual(
        new Uint8Array(await new Response(fetched.body).arrayBuffer()),
        new Uint8Array(content),
        "The fetched bytes differ from the attachment's",
      );
      for (const foreign of [null, "http://127.0.0.1/", {}, { url: "file:///etc/passwd" }])
        await expectChannelError(
          fetchMedia({ ...ref, ref: foreign }, never),
          `Fetching the foreign reference ${JSON.stringify(foreign)}`,
          "invalid",
          "not_found",
        );
    },
  },
  {
    group: "media",
    name: "fetches attachments up to its size limit",
    applies,
    async run({ open, definition }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = getMedia(bench);
      const { maxBytes } = required(definition.capabilities.media, "media");
      answerWith(() => new Response(new Uint8Array(maxBytes)));
      const { body } = await fetchMedia(ref, never);
      expectEqual(
        await countBytes(body),
        maxBytes,
        "An attachment of exactly capabilities.media.maxBytes must arrive completely",
      );
    },
  },
  {
    group: "media",
    name: "aborts downloads over its size limit, announced or not",
    applies,
    async run({ open, definition, waitMs }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = getMedia(bench);
      const { maxBytes } = required(definition.capabilities.media, "media");
      const expectTooLarge = async (answer: () => Response, what: string) => {
        answerWith(answer);
        const fetching = fetchMedia(ref, never).then(({ body }) => countBytes(body));
        await expectChannelError(within(waitMs, fetching, what), what, "too_large");
      };
      const headers = { "content-length": String(maxBytes + 1) };
      await expectTooLarge(
        () => new Response(createSilentStream(0), { headers }),
        "Fetching an attachment whose content-length exceeds the limit",
      );
      // Without a content length and without an end of the stream, the size can only be determined by counting bytes.
      await expectTooLarge(
        () => new Response(createSilentStream(maxBytes + 1)),
        "Fetching an attachment that exceeds the limit while it is streamed",
      );
    },
  },
  {
    group: "media",
    name: "reports the type from the platform's response",
    applies,
    async run({ open }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = getMedia(bench);
      const headers = { "content-type": "image/png" };
      answerWith(() => new Response("content", { headers }));
      const fetched = await fetchMedia({ ...ref, mimeType: "text/plain" }, never);
      await fetched.body.cancel();
      expectEqual(
        fetched.mimeType,
        "image/png",
        "The type of an attachment must come from the response, not from the reference",
      );
    },
  },
  {
    group: "media",
    name: "requests attachments only from the platform",
    applies,
    async run({ open }) {
      await using bench = await open();
      await using internal = await startInternalServer();
      const { fetchMedia, ref, leadingTo } = getMedia(bench);
      const references = leadingTo(internal.url);
      expectThat(references.length > 0, "media.leadingTo of the harness must return references");
      for (const changed of references)
        await expectChannelError(
          fetchMedia({ ...ref, ref: changed }, never),
          `Fetching the reference ${JSON.stringify(changed)}, which leads to an internal server,`,
          "invalid",
          "not_found",
        );
      expectEqual(internal.requests, [], "The channel sent a request to an internal server");
    },
  },
  {
    group: "media",
    name: "does not follow cross-origin redirects",
    applies,
    async run({ open }) {
      await using bench = await open();
      await using internal = await startInternalServer();
      const { fetchMedia, ref, answerWith } = getMedia(bench);
      const headers = { location: internal.url };
      answerWith(() => new Response(null, { status: 302, headers }));
      await expectChannelError(
        fetchMedia(ref, never),
        "Fetching an attachment whose response redirects to another server",
      );
      expectEqual(internal.requests, [], "The channel followed a redirect to an internal server");
    },
  },
];
