import { expect, it } from "vitest";
import { boundedBody } from "../index.ts";

it("passes on what fits, and breaks off at the first byte too many", async () => {
  let pulled = 0;
  const endless = () =>
    new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(10));
      },
    });
  const whole = new Blob([new Uint8Array(25)]).stream();
  expect((await new Response(boundedBody(whole, 25)).bytes()).length).toBe(25);
  const reading = new Response(boundedBody(endless(), 25)).bytes();
  await expect(reading).rejects.toMatchObject({ code: "too_large" });
  expect(pulled).toBeLessThan(10);
});
