import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { never, openChannel } from "@signalbox/channel/testkit";
import { expect, it, onTestFinished } from "vitest";
import { inOwnProcess } from "../src/index.ts";
import { launchLocally } from "../src/testkit.ts";
import requesting from "./requesting.ts";

const MODULE = new URL("./requesting.ts", import.meta.url).href;

it("sends no request while another host may have taken over the work of the gateway", async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end("sent");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  let isHeld = false;
  const definition = inOwnProcess(requesting, MODULE, launchLocally().launch);
  const context = { isShared: true, mayRequest: () => isHeld };
  await using running = await openChannel(definition, url, { context });
  const send = (): Promise<unknown> =>
    running.channel.send("c", { parts: [] }, { idempotencyKey: "k", signal: never });
  await expect(send()).rejects.toMatchObject({ code: "transient" });
  expect(requests).toBe(0);
  isHeld = true;
  expect(await send()).toEqual({ parts: [{ index: 0, messageId: "sent true" }] });
});
