import type { ServerResponse } from "node:http";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { serve } from "../support/site.ts";

/** Long enough that nobody waits for it. */
const NEVER_MS = 600_000;

/** A server that keeps what it is asked waiting until it is let go. */
async function deadServer() {
  const held: ServerResponse[] = [];
  let alive = false;
  const server = await serve((_, response) => {
    if (alive) response.end("bytes");
    else held.push(response);
  });
  const revive = () => {
    alive = true;
    for (const response of held.splice(0)) response.destroy();
  };
  return { server, revive, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

function configure(world: World, host: string): void {
  world.configure(
    exampleConfig({
      gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 1 },
      tools: { web: { allow: [host], timeoutMs: NEVER_MS } },
    }),
  );
}

async function ends(world: World): Promise<unknown[]> {
  const rows = await inboxRows(world);
  return rows.map(({ messageId, state }) => [messageId, state]);
}

const from = (text: string, messageId: string) => textMessage(text, { senderId: ZHANG, messageId });

describe("attachments that are fetched slowly", () => {
  it("do not delay a stop of the gateway, and the next start continues with them", async () => {
    await using dead = await deadServer();
    const { url, host, requests } = dead.server;
    const world = await openWorld();
    configure(world, host);
    world.script(() => ({ text: `MEDIA:${url}/a\nMEDIA:${url}/b\nMEDIA:${url}/c` }));
    const first = await world.start();
    await first.post(from("send it", "om_1"));
    await eventually(() => requests.length === 1, "the first one is asked for");
    await first.stop();
    expect(requests).toHaveLength(1);
    expect(await ends(world)).toEqual([["om_1", "running"]]);
    dead.revive();
    const second = await world.start();
    await second.settled();
    expect(world.feishu.sent.map((one) => world.feishu.upload(one)?.name)).toEqual(["a", "b", "c"]);
  });

  it("are aborted by /stop, and so are those of the message tool", async () => {
    await using dead = await deadServer();
    const { url, host, requests } = dead.server;
    const world = await openWorld();
    configure(world, host);
    const input = { action: "send", message: "Here", media: [`${url}/b`] };
    world.script([
      { text: `Here:\nMEDIA:${url}/a\nMEDIA:${url}/never` },
      { toolCalls: [{ name: "message", input }] },
      {},
    ]);
    const started = await world.start();
    for (const [index, id] of ["om_1", "om_2"].entries()) {
      await started.post(from("send it", id));
      await eventually(() => requests.length === index + 1, "an attachment is asked for");
      await started.post(from("/stop", `${id}_stop`));
      await started.settled();
    }
    expect(requests.map((one) => one.url)).toEqual(["/a", "/b"]);
    expect(world.feishu.sent.map(({ content }) => content).join()).not.toContain("Here");
    await started.stop();
    expect(await ends(world)).toEqual([
      ["om_1", "silent"],
      ["om_1_stop", "replied"],
      ["om_2", "silent"],
      ["om_2_stop", "replied"],
    ]);
  });
});

it("does not wait forever for a run that does not end", async () => {
  const world = await openWorld();
  configure(world, "127.0.0.1:1");
  world.script(() => ({ text: "done" }));
  const stuck = Promise.withResolvers<void>();
  const first = await world.start({
    failpoints: (point) => {
      if (point !== "finish.before") return;
      stuck.resolve();
      return new Promise(() => {});
    },
  });
  await first.post(from("hi", "om_1"));
  await stuck.promise;
  await first.stop();
  expect(await ends(world)).toEqual([["om_1", "running"]]);
  const second = await world.start();
  await second.settled();
  expect(world.feishu.sent).toHaveLength(1);
});
