import { strict as assert } from "node:assert";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { deadline } from "../host/deadline.ts";
import { rejectOnAbort } from "../host/reject-on-abort.ts";
import { type Bench, never } from "./bench.ts";
import { type Check, method, needed, only } from "./check.ts";
import { failing } from "./failing.ts";

/** What a check of attachments works with. */
function attachedTo<Address>({ channel, platform }: Bench<Address>) {
  const { ref, content, answerWith, leadingTo } = needed(platform.media, "media");
  return {
    fetchMedia: method(channel, "fetchMedia"),
    ref,
    content,
    answerWith: (answer: () => Response) => needed(answerWith, "media.answerWith")(answer),
    leadingTo: (address: string) => needed(leadingTo, "media.leadingTo")(address),
  };
}

/** So many bytes, then silence: neither more nor an end. */
function silentAfter(bytes: number): ReadableStream<Uint8Array> {
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

async function lengthOf(body: ReadableStream<Uint8Array>): Promise<number> {
  let length = 0;
  for await (const piece of body) length += piece.byteLength;
  return length;
}

/** The same work, which fails the test where it takes longer. */
async function within<T>(waitMs: number, work: Promise<T>, what: string): Promise<T> {
  const limit = deadline(waitMs);
  try {
    return await rejectOnAbort(work, limit.signal, () => new Error(`${what}: nothing within ${waitMs} ms`));
  } finally {
    limit.end();
  }
}

/** A server on the gateway's network that no outsider should get the gateway to call. Disposing of it stops it. */
async function openNeighbour() {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end("what only neighbours may read");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/attachments/1/2/a`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const withMedia = only("media", "no media");

/** Attachments that come in. */
export const mediaChecks: readonly Check[] = [
  {
    group: "media",
    name: "fetches an attachment, and refuses a reference it did not make",
    applies: withMedia,
    async run({ open }) {
      await using bench = await open();
      const { fetchMedia, ref, content } = attachedTo(bench);
      const fetched = await fetchMedia(ref, never);
      assert.deepEqual(
        new Uint8Array(await new Response(fetched.body).arrayBuffer()),
        new Uint8Array(content),
      );
      for (const foreign of [null, "http://127.0.0.1/", {}, { url: "file:///etc/passwd" }]) {
        const error = await failing(
          fetchMedia({ ...ref, ref: foreign }, never),
          `a foreign reference, ${JSON.stringify(foreign)},`,
        );
        assert.ok(error.code === "invalid" || error.code === "not_found", error.code);
      }
    },
  },
  {
    group: "media",
    name: "gives an attachment as large as it claims",
    applies: withMedia,
    async run({ open, definition }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = attachedTo(bench);
      const { maxBytes } = needed(definition.capabilities.media, "media");
      answerWith(() => new Response(new Uint8Array(maxBytes)));
      const { body } = await fetchMedia(ref, never);
      assert.equal(await lengthOf(body), maxBytes);
    },
  },
  {
    group: "media",
    name: "breaks off what is larger than it claims, announced or not",
    applies: withMedia,
    async run({ open, definition, waitMs }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = attachedTo(bench);
      const { maxBytes } = needed(definition.capabilities.media, "media");
      const refused = async (answer: () => Response, what: string) => {
        answerWith(answer);
        const fetching = fetchMedia(ref, never).then(({ body }) => lengthOf(body));
        const error = await failing(within(waitMs, fetching, what), what);
        assert.equal(error.code, "too_large");
      };
      const headers = { "content-length": String(maxBytes + 1) };
      await refused(() => new Response(silentAfter(0), { headers }), "an attachment announced as too large");
      // No length is announced, and the last byte is not the end: only who counts as they come can notice.
      await refused(() => new Response(silentAfter(maxBytes + 1)), "an attachment that grows too large");
    },
  },
  {
    group: "media",
    name: "says of which type the platform's answer is, not what was claimed",
    applies: withMedia,
    async run({ open }) {
      await using bench = await open();
      const { fetchMedia, ref, answerWith } = attachedTo(bench);
      const headers = { "content-type": "image/png" };
      answerWith(() => new Response("content", { headers }));
      const fetched = await fetchMedia({ ...ref, mimeType: "text/plain" }, never);
      await fetched.body.cancel();
      assert.equal(fetched.mimeType, "image/png");
    },
  },
  {
    group: "media",
    name: "asks nobody but the platform, whatever address stands in a reference",
    applies: withMedia,
    async run({ open }) {
      await using bench = await open();
      await using neighbour = await openNeighbour();
      const { fetchMedia, ref, leadingTo } = attachedTo(bench);
      const leading = leadingTo(neighbour.url);
      assert.ok(leading.length > 0, "leadingTo names no reference");
      for (const changed of leading) {
        const what = `a reference to a neighbour, ${JSON.stringify(changed)},`;
        const error = await failing(fetchMedia({ ...ref, ref: changed }, never), what);
        assert.ok(error.code === "invalid" || error.code === "not_found", error.code);
      }
      assert.deepEqual(neighbour.asked, []);
    },
  },
  {
    group: "media",
    name: "follows no answer that leads to another server",
    applies: withMedia,
    async run({ open }) {
      await using bench = await open();
      await using neighbour = await openNeighbour();
      const { fetchMedia, ref, answerWith } = attachedTo(bench);
      const headers = { location: neighbour.url };
      answerWith(() => new Response(null, { status: 302, headers }));
      await failing(fetchMedia(ref, never), "an attachment that is said to be elsewhere");
      assert.deepEqual(neighbour.asked, []);
    },
  },
];
