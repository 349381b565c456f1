import { expect, it } from "vitest";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

it("tells the owners once when an account may have missed messages, and accepts any time in the report", async () => {
  const world = await openWorld();
  const plain = plainChannel({ openDirect: async (person) => `plain:of-${person}` });
  world.configure(
    exampleConfig({
      access: { owners: ["plain:anna"] },
      channels: { plain: { accounts: { main: {} } } },
    }),
  );
  const started = await world.start({ channels: [plain.definition] });
  const { text: _, media: __, mentions: ___, messageId: ____, ...base } = plainMessage("gap", "");
  const gap = { ...base, type: "lifecycle", what: "gap" } as const;
  const from = Date.UTC(2026, 10, 29, 3, 0);
  expect(await plain.emit({ ...gap, detail: { from, to: from + 90_000 } })).toBe("accepted");
  await eventually(() => said(plain).length === 1, "the owner is informed");
  expect(said(plain)).toEqual([
    expect.stringContaining(
      "plain/main may have missed messages between 2026-11-29T03:00:00.000Z and 2026-11-29T03:01:30.000Z",
    ),
  ]);
  for (const detail of [{ from: 1e300, to: "now" }, "forged"])
    expect(await plain.emit({ ...gap, eventId: "another", detail })).toBe("accepted");
  expect(started.log()).toContain("an account may have missed messages");
  await started.stop();
  expect(said(plain), "a second report within the hour is only logged").toHaveLength(1);
});
