import { expectChannelError, openChannel } from "@signalbox/channel/testkit";
import { expect, it } from "vitest";
import { inOwnProcess } from "../src/index.ts";
import { launchLocally } from "../src/testkit.ts";
import drafting, { finalized, receivedCommands } from "./drafting.ts";

const isolated = inOwnProcess(
  drafting,
  new URL("./drafting.ts", import.meta.url).href,
  launchLocally().launch,
);

it("passes the host's commands to the account's process, in every language", async () => {
  const commands = [{ name: "new", description: "Starts a new session", localized: { zh: "重新开始" } }];
  await using _ = await openChannel(isolated, {}, { context: { commands } });
  expect(receivedCommands).toEqual([commands]);
});

it("drops a draft in the process when its signal fires", async () => {
  await using running = await openChannel(isolated, {});
  const run = new AbortController();
  const options = { idempotencyKey: "run1", signal: run.signal };
  const draft = await running.channel.openDraft?.("place", options);
  if (draft === undefined) throw new Error("the channel has no drafts");
  run.abort();
  expect((await expectChannelError(draft.finalize({ parts: [] }))).code).toBe("invalid");
  expect(finalized).toEqual([]);
});
