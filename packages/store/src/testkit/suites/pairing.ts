import { FencedError } from "../../errors.ts";
import type { LeaseToken } from "../../types/common.ts";
import type { Suite } from "./suite.ts";
import { reply, takeLease } from "./support.ts";

export const pairingSuite: Suite = ({ test, expect, open }) => {
  test("an unknown sender is paired once by a code that an owner approves", async () => {
    const { store, time } = await open();
    const stranger = { channel: "feishu", account: "main", peerId: "ou_9", label: "Stranger" };
    expect(await store.pairing.request({ ...stranger, code: "ABCD2345" })).toBe("created");
    expect(await store.pairing.request({ ...stranger, code: "ZZZZ9999" })).toBe("pending");
    expect(await store.pairing.pending()).toEqual([
      { ...stranger, createdAt: time.now, expiresAt: time.now + 600_000 },
    ]);
    expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(false);
    expect(await store.pairing.approve({ code: "abcd2345 ", approvedBy: "owner", channel: "slack" })).toEqual(
      {
        outcome: "unknown",
      },
    );
    const peer = { ...stranger, approvedAt: time.now, approvedBy: "owner" };
    expect(await store.pairing.approve({ code: "abcd2345 ", approvedBy: "owner" })).toEqual({
      outcome: "approved",
      peer,
    });
    expect(await store.pairing.approve({ code: "ABCD2345", approvedBy: "owner" })).toEqual({
      outcome: "unknown",
    });
    expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(true);
    expect(await store.pairing.isApproved("feishu", "other", "ou_9")).toBe(false);
    expect(await store.pairing.request({ ...stranger, code: "ABCD2345" })).toBe("approved");
    expect(await store.pairing.peers()).toEqual([peer]);
    expect(await store.pairing.revoke("feishu", "main", "ou_9")).toBe(true);
    expect(await store.pairing.isApproved("feishu", "main", "ou_9")).toBe(false);
  });

  test("a code and its message are committed together or not at all", async () => {
    const { store } = await open();
    const lease = await takeLease(store);
    const request = (peerId: string, row: Parameters<typeof reply>[0], held: LeaseToken) =>
      store.pairing.request({
        channel: "feishu",
        account: "main",
        peerId,
        code: "ABCD2345",
        reply: { row: reply(row), lease: held },
      });
    expect(await request("1", "your code", lease)).toBe("created");
    expect(await request("1", "again", lease)).toBe("pending");
    const { rows } = await store.outbox.claimDue({ lease, limit: 9 });
    expect(rows.map((row) => row.payload)).toEqual([reply("your code").payload]);
    const lost = { ...lease, epoch: lease.epoch + 1 };
    await expect(request("2", "from the past", lost)).rejects.toBeInstanceOf(FencedError);
    expect((await store.pairing.pending()).map((one) => one.peerId)).toEqual(["1"]);
  });

  test("codes expire after 10 minutes or 5 wrong attempts, and an account has at most 3", async () => {
    const { store, time } = await open();
    const request = (peerId: string, code: string, account = "main") =>
      store.pairing.request({ channel: "feishu", account, peerId, code });
    expect(await request("1", "AAAAAAAA")).toBe("created");
    expect(await request("2", "BBBBBBBB")).toBe("created");
    expect(await request("3", "CCCCCCCC")).toBe("created");
    expect(await request("4", "DDDDDDDD")).toBe("full");
    expect(await request("4", "DDDDDDDD", "second")).toBe("created");
    for (let i = 0; i < 5; i += 1) {
      await store.pairing.approve({ code: "WRONG", approvedBy: "owner", channel: "feishu", account: "main" });
    }
    expect(await store.pairing.approve({ code: "AAAAAAAA", approvedBy: "owner" })).toEqual({
      outcome: "unknown",
    });
    expect(await request("4", "EEEEEEEE")).toBe("created");
    time.now += 600_000;
    expect(await store.pairing.approve({ code: "EEEEEEEE", approvedBy: "owner" })).toEqual({
      outcome: "unknown",
    });
    expect(await store.pairing.pending()).toEqual([]);
  });
};
