import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { callSignal, createHttp } from "./http.ts";
import { limits } from "./limits.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const url = "https://open.feishu.cn/open-apis/im/v1/messages/om_1/resources/file_1";
const most = limits.requestTimeoutMs;

/** Starts a download whose chunks the test sends. */
async function begin() {
  const sending = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array>>();
  const http = createHttp(async (_, init) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        init?.signal?.addEventListener("abort", () => controller.error(init.signal?.reason));
        sending.resolve(controller);
      },
    });
    return new Response(body);
  }, Date.now);
  const caller = new AbortController();
  const { body } = await callSignal.run(caller.signal, () => http.download({ url }));
  return { caller, reader: body.getReader(), controller: await sending.promise };
}

it("downloads for as long as it takes, whatever the reader does between two pieces", async () => {
  const { caller, reader, controller } = await begin();
  for (let pieces = 0; pieces < 4; pieces++) {
    const reading = reader.read();
    await vi.advanceTimersByTimeAsync(most - 1);
    controller.enqueue(new Uint8Array(3));
    expect((await reading).value).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(2 * most);
  }
  controller.close();
  expect((await reader.read()).done).toBe(true);
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});

it("gives a download up that has fallen silent", async () => {
  const { caller, reader } = await begin();
  const read = expect(reader.read()).rejects.toMatchObject({ name: "TimeoutError" });
  await vi.advanceTimersByTimeAsync(most);
  await read;
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(0);
});

it("gives a download up when its caller does", async () => {
  const { caller, reader } = await begin();
  const read = expect(reader.read()).rejects.toBe("enough");
  caller.abort("enough");
  await read;
  expect(vi.getTimerCount()).toBe(0);
});

it("leaves nothing behind where a download is refused or cancelled", async () => {
  const caller = new AbortController();
  const http = createHttp(async () => Response.json({ code: 234001, msg: "no" }, { status: 400 }), Date.now);
  await expect(callSignal.run(caller.signal, () => http.download({ url }))).rejects.toMatchObject({
    status: 400,
    code: 234001,
  });
  expect(getEventListeners(caller.signal, "abort")).toHaveLength(0);
  const begun = await begin();
  await begun.reader.cancel();
  expect(getEventListeners(begun.caller.signal, "abort")).toHaveLength(0);
  expect(vi.getTimerCount()).toBe(0);
});
