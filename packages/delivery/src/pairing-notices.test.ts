import { type Channel, ChannelError } from "@signalbox/channel";
import { expect, it } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createPairingNotices, type PairedPeer } from "./index.ts";

const anna: PairedPeer = { channel: "plain", account: "main", peerId: "anna", approvedAt: 1_000_000 };

async function harness(peers: readonly PairedPeer[], openDirect: Channel["openDirect"]) {
  const { outbox, lease, clock } = await openOutbox();
  let woken = 0;
  const open = () =>
    createPairingNotices({
      outbox,
      lease,
      clock,
      peers: async () => peers,
      account: () => plainAccount({ openDirect }),
      wakeOutbox: () => {
        woken += 1;
      },
      logger: silentLogger,
    });
  const rows = async () => (await outbox.claimDue({ lease, limit: 10 })).rows;
  return { open, rows, woken: () => woken };
}

it("notifies a recently paired person once, also if another process polls", async () => {
  const { open, rows, woken } = await harness([anna], async (person) => `direct with ${person}`);
  const notices = open();
  await notices.poll();
  await notices.poll();
  await open().poll();
  expect(await rows()).toMatchObject([
    {
      channel: "plain",
      account: "main",
      address: expect.stringContaining("anna"),
      payload: { notice: true, parts: [{ text: expect.stringContaining("You may talk") }] },
    },
  ]);
  expect(woken()).toBeGreaterThan(0);
});

it("skips people who were paired long ago, and retries after a failure of the platform", async () => {
  const old = { ...anna, peerId: "ben", approvedAt: anna.approvedAt - 11 * 60_000 };
  let isAway = true;
  const { open, rows } = await harness([old, anna], async (person) => {
    if (isAway) throw new ChannelError("transient", "away");
    return `direct with ${person}`;
  });
  const notices = open();
  await notices.poll();
  expect(await rows()).toEqual([]);
  isAway = false;
  await notices.poll();
  expect(await rows()).toMatchObject([{ address: expect.stringContaining("anna") }]);
});

it("notifies the others if one person cannot be written to", async () => {
  const { open, rows } = await harness([{ ...anna, peerId: "ben" }, anna], async (person) => {
    if (person === "ben") throw new ChannelError("permission", "ben has closed their messages");
    return `direct with ${person}`;
  });
  await open().poll();
  expect(await rows()).toMatchObject([{ address: expect.stringContaining("anna") }]);
});

it("does nothing on a channel that cannot open direct messages", async () => {
  const { open, rows } = await harness([anna], undefined);
  await open().poll();
  expect(await rows()).toEqual([]);
});
