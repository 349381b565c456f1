import type { ScriptedTurn } from "@signalbox/testkit";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect } from "vitest";
import { exampleConfig, inStore, openWorld, ZHANG } from "../../support/harness.ts";
import type { Failpoint } from "./failpoints.ts";

/** The passing of a failpoint. */
export type Moment = `${Failpoint}:${number}`;

/** What stands at the platform after a process died at that moment and another one went on. */
export async function afterDeath(
  moment: Moment,
  turns: readonly ScriptedTurn[],
  replies?: Readonly<Record<string, unknown>>,
): Promise<readonly string[]> {
  const world = await openWorld();
  world.configure(exampleConfig(replies === undefined ? {} : { replies }));
  world.script(turns);
  const first = await world.startTuned({
    SIGNALBOX_FAILPOINT: `${moment}:kill`,
    SIGNALBOX_DRAFT_MS: "1",
  });
  await first.post(textMessage("how?", { senderId: ZHANG }));
  expect(await first.exited).toMatchObject({ signal: "SIGKILL" });
  // In this process, whose modules are loaded already: only the first one has to die.
  const second = await world.start();
  await second.settled();
  await second.stop();
  const ended = await inStore(world, (store) =>
    store.outbox.list({ states: ["dead", "uncertain", "expired"] }),
  );
  expect(ended).toEqual([]);
  return world.feishu.sent.flatMap(({ deleted, edits, content }) =>
    deleted ? [] : [edits.at(-1) ?? content],
  );
}
