import { expect, it } from "vitest";
import { inOwnProcess } from "../src/process/index.ts";
import { failing, openChannel } from "../src/testkit/index.ts";
import drafting, { finalized, given } from "./drafting.ts";
import { launchedHere } from "./launched-here.ts";

const apart = inOwnProcess(drafting, new URL("./drafting.ts", import.meta.url).href, launchedHere().launch);

it("hands the host's commands to the process of an account, in every language", async () => {
  const commands = [{ name: "new", description: "Begins anew", localized: { zh: "重新开始" } }];
  await using _ = await openChannel(apart, {}, { context: { commands } });
  expect(given).toEqual([commands]);
});

it("forgets a draft there once its signal has fired", async () => {
  await using running = await openChannel(apart, {});
  const run = new AbortController();
  const options = { idempotencyKey: "run1", signal: run.signal };
  const draft = await running.channel.openDraft?.("place", options);
  if (draft === undefined) throw new Error("there are no drafts");
  run.abort();
  expect((await failing(draft.finalize({ parts: [] }))).code).toBe("invalid");
  expect(finalized).toEqual([]);
});
