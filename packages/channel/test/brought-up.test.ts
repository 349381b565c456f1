import { expect, it } from "vitest";
import { inOwnProcess } from "../src/process/index.ts";
import { openChannel } from "../src/testkit/index.ts";
import { launchedHere } from "./launched-here.ts";
import readyEarly, { starts } from "./ready-early.ts";

const MODULE = new URL("./ready-early.ts", import.meta.url).href;

it("says that an account is down until the process that takes another's place can be called", async () => {
  const { launch, kills } = launchedHere();
  const opening = openChannel(inOwnProcess(readyEarly, MODULE, launch), {});
  await expect.poll(() => starts.length).toBe(1);
  starts[0]?.();
  await using running = await opening;
  const { channel } = running;
  expect(channel.health()).toEqual({ state: "ready" });

  kills[0]?.();
  await expect.poll(() => starts.length).toBe(2);
  // The second process has said that it is ready; calls do not go to it yet.
  expect(channel.health()).toMatchObject({ state: "down", reason: "its process: it was killed" });
  starts[1]?.();
  await expect.poll(() => channel.health().state).toBe("ready");
});
