import { expect, it } from "vitest";
import { exampleConfig, inboxRows, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

it("a command whose answer cannot be rendered fails, and is not retried forever", async () => {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } } }));
  const plain = plainChannel();
  const { capabilities } = plain.definition;
  let answering = false;
  const broken = Object.defineProperty({ ...capabilities }, "text", {
    get() {
      if (answering) throw new TypeError("no text today");
      return capabilities.text;
    },
  });
  const started = await world.start({ channels: [{ ...plain.definition, capabilities: broken }] });
  answering = true;
  await plain.emit(plainMessage("m1", "/whoami"));
  await started.settled();
  const [row] = await inboxRows(world);
  expect([row?.state, row?.detail?.rule]).toEqual(["failed-reported", "internal"]);
  expect(started.log()).toContain("work failed for good");
  expect(plain.sent).toEqual([]);
});
