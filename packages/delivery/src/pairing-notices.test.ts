import { type Channel, ChannelError, systemClock } from "@signalbox/channel";
import { expect, it } from "vitest";
import { plainAccount, silentLogger } from "../test/plain.ts";
import { createPairingNotices, type PairedPeer } from "./index.ts";
import { createMemoryOutbox } from "./testkit/index.ts";

const anna: PairedPeer = { channel: "plain", account: "main", peerId: "anna", approvedAt: Date.now() };

const lease = { name: "gateway", epoch: 1 };

function harness(peers: readonly PairedPeer[], openDirect: Channel["openDirect"]) {
  const outbox = createMemoryOutbox(systemClock);
  let woken = 0;
  const open = () =>
    createPairingNotices({
      outbox,
      lease,
      peers: async () => peers,
      account: () => plainAccount(openDirect === undefined ? {} : { openDirect }),
      wakeOutbox: () => {
        woken += 1;
      },
      logger: silentLogger,
    });
  const rows = async () => (await outbox.claimDue({ lease, limit: 10 })).rows;
  return { open, rows, woken: () => woken };
}

it("tells whoever was let in lately, once, also where another process looks", async () => {
  const { open, rows, woken } = harness([anna], async (person) => `direct with ${person}`);
  const notices = open();
  await notices.look();
  await notices.look();
  await open().look();
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

it("tells nobody who was let in long ago, and tries again where the platform was away", async () => {
  const old = { ...anna, peerId: "ben", approvedAt: Date.now() - 11 * 60_000 };
  let isAway = true;
  const { open, rows } = harness([old, anna], async (person) => {
    if (isAway) throw new ChannelError("transient", "away");
    return `direct with ${person}`;
  });
  const notices = open();
  await notices.look();
  expect(await rows()).toEqual([]);
  isAway = false;
  await notices.look();
  expect(await rows()).toMatchObject([{ address: expect.stringContaining("anna") }]);
});

it("tells the others where one of them cannot be written to", async () => {
  const { open, rows } = harness([{ ...anna, peerId: "ben" }, anna], async (person) => {
    if (person === "ben") throw new ChannelError("permission", "ben has closed their messages");
    return `direct with ${person}`;
  });
  await open().look();
  expect(await rows()).toMatchObject([{ address: expect.stringContaining("anna") }]);
});

it("leaves it where a channel opens no conversation", async () => {
  const { open, rows } = harness([anna], undefined);
  await open().look();
  expect(await rows()).toEqual([]);
});
