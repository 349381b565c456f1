import { type Bodies, openStore } from "@signalbox/store";
import { expect, it } from "vitest";
import { storeWithRedaction } from "./redacted-store.ts";

interface AskedBodies extends Bodies {
  readonly approval: Bodies["approval"] & {
    readonly subject: { readonly action: string; readonly env?: Readonly<Record<string, string>> };
  };
}

const redact = (text: string): string => text.replaceAll("hunter2", "[redacted]");

it("stores no secrets in traces, reasons and errors", async () => {
  const store = storeWithRedaction(await openStore<AskedBodies>({ path: ":memory:" }), redact);
  const lease = await store.leases.acquire("gateway", "test", 60_000);
  if (lease === undefined) throw new Error("no lease");
  const event = { channel: "plain", account: "main", kind: "message", conversationId: "c", senderId: "anna" };
  const accepted = await store.inbox.accept({ ...event, eventId: "e", payload: "hunter2" });
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  await store.traces.append(accepted.id, [{ stage: "admission", data: { text: "hunter2 was given" } }]);
  await store.inbox.settle(accepted.id, "ignored", { rule: "blocked", reason: "hunter2 was given" });
  const [row] = await store.outbox.enqueue(
    [{ channel: "plain", account: "main", address: "a", payload: "hunter2", claim: true }],
    { lease },
  );
  if (row === undefined) throw new Error("no row");
  await store.outbox.uncertain(row.id, lease, "hunter2 was refused");

  expect((await store.traces.read(accepted.id))[0]?.data).toEqual({ text: "[redacted] was given" });
  const kept = await store.inbox.get(accepted.id);
  expect(kept).toMatchObject({ detail: { reason: "[redacted] was given" }, payload: "hunter2" });
  const sent = await store.outbox.get(row.id);
  expect(sent).toMatchObject({ error: "[redacted] was refused", payload: "hunter2" });
  await store.close();
});
