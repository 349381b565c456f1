import { openChannel } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { inOwnProcess } from "../src/index.ts";
import { launchLocally } from "../src/testkit.ts";
import readyEarly, { starts } from "./ready-early.ts";

const MODULE = new URL("./ready-early.ts", import.meta.url).href;

it("reports an account as down until the replacement process has started it", async () => {
  const { launch, kills } = launchLocally();
  const opening = openChannel(inOwnProcess(readyEarly, MODULE, launch), {});
  await expect.poll(() => starts.length).toBe(1);
  starts[0]?.();
  await using running = await opening;
  const { channel } = running;
  expect(channel.health()).toEqual({ state: "ready" });

  kills[0]?.();
  await expect.poll(() => starts.length).toBe(2);
  // The second process has already reported that it is ready.
  expect(channel.health()).toMatchObject({ state: "down", reason: "its process: it was killed" });
  starts[1]?.();
  await expect.poll(() => channel.health().state).toBe("ready");
});
