import { expect, it } from "vitest";
import { createFetchedMedia } from "../index.ts";

it("fails with too_large at the first byte over the limit", async () => {
  let pulled = 0;
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(10));
      },
    });
  const media = { kind: "file", mimeType: "text/plain", ref: "1" } as const;
  const bytesOf = (body: ReadableStream<Uint8Array>) =>
    new Response(createFetchedMedia({ body, headers: new Headers() }, media, 25).body).bytes();
  expect((await bytesOf(new Blob([new Uint8Array(25)]).stream())).length).toBe(25);
  const reading = bytesOf(endless());
  await expect(reading).rejects.toMatchObject({ code: "too_large" });
  expect(pulled).toBeLessThan(10);
});
