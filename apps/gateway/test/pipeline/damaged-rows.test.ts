import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

it.each([
  ["runs", "m1"],
  ["waits", "m2"],
])(
  "a message that %s and lost its content ends as failed; the start goes on with the others",
  async (_, lost) => {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        gateway: { port: 0, auth: { token: TOKEN }, shutdownMs: 0 },
        channels: { plain: { accounts: { main: {} } } },
        session: { queue: { mode: "followup" } },
      }),
    );
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    world.script(async () => {
      reached.resolve();
      await gate.promise;
      return { text: "answered" };
    });
    const plain = plainChannel();
    const first = await world.start({ channels: [plain.definition] });
    await plain.emit(plainMessage("m1", "one"));
    await reached.promise;
    await plain.emit(plainMessage("m2", "two"));
    await plain.emit(plainMessage("m3", "three"));
    await first.stop();
    gate.resolve();
    const database = new DatabaseSync(world.home.databaseFile);
    const { changes } = database
      .prepare("DELETE FROM entry WHERE kind = 'inbound' AND json_extract(body, '$.messageId') = ?")
      .run(lost);
    database.close();
    expect(changes).toBe(1);

    const second = await world.start({ channels: [plain.definition] });
    await second.settled();
    await second.stop();
    const after = new DatabaseSync(world.home.databaseFile);
    const ends = after.prepare("SELECT state, rule FROM inbox ORDER BY seq").all();
    after.close();
    expect(ends.map(({ state, rule }) => [state, rule])).toEqual(
      ["m1", "m2", "m3"].map((name) => (name === lost ? ["failed-reported", "damaged"] : ["replied", null])),
    );
  },
);
