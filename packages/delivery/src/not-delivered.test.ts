import { expect, it, onTestFinished } from "vitest";
import { openOutbox } from "../test/open-outbox.ts";
import { KEYED, plainAccount } from "../test/plain.ts";
import { createDelivery, createOutboxRow } from "./index.ts";

const silentLogger = { warn() {}, error() {} };
const DESTINATION = { channel: "plain", account: "main", address: "plain:room" };

/** A delivery on a platform that returns `id` for each message, once `taken` resolves. */
async function setup(taken: Promise<void> = Promise.resolve()) {
  const opened = await openOutbox();
  const { outbox, lease, clock } = opened;
  const running = plainAccount(
    {
      send: async (_to, message) => {
        await taken;
        return { parts: message.parts.map((_, index) => ({ index, messageId: `m${index}` })) };
      },
    },
    { capabilities: KEYED },
  );
  const outcomes: string[] = [];
  const delivery = createDelivery({
    outbox,
    lease,
    clock,
    logger: silentLogger,
    account: () => running,
    onOutcome: (_row, outcome, detail) => void outcomes.push(`${outcome}: ${detail}`),
  });
  onTestFinished(() => delivery.stop(0));
  const row = createOutboxRow(
    DESTINATION,
    { parts: [{ type: "text", text: "hello" }] },
    { expiresAt: clock.now() + 3_000_000, claim: true },
  );
  const [added] = await outbox.enqueue([row], { lease });
  if (added === undefined) throw new Error("The outbox returned no row.");
  delivery.deliver([added]);
  await clock.settle();
  return { ...opened, delivery, outcomes, id: added.id };
}

const REPORT = { ...DESTINATION, messageId: "m0", reason: "the number has no WhatsApp" };

it("ends the row of a sent message as dead, with the platform's reason, once", async () => {
  const { delivery, outbox, outcomes, id } = await setup();
  expect(await delivery.notDelivered(REPORT)).toMatchObject({ id });
  expect(await outbox.get(id)).toMatchObject({ state: "dead", error: "the number has no WhatsApp" });
  expect(outcomes.at(-1)).toBe(
    "dead: the platform accepted it and did not deliver it: the number has no WhatsApp",
  );
  expect(await delivery.notDelivered(REPORT)).toMatchObject({ id, state: "dead" });
  expect(outcomes.filter((outcome) => outcome.startsWith("dead"))).toHaveLength(1);
});

it("finds no row for an unknown message, or for one of another account", async () => {
  const { delivery, outbox, id } = await setup();
  expect(await delivery.notDelivered({ ...REPORT, messageId: "m9" })).toBeUndefined();
  expect(await delivery.notDelivered({ ...REPORT, account: "other" })).toBeUndefined();
  expect((await outbox.get(id))?.state).toBe("sent");
});

it("finds no row for an unknown message at once while an untried row of the conversation waits", async () => {
  const { delivery, outbox, lease, clock } = await setup();
  const later = createOutboxRow(
    DESTINATION,
    { parts: [{ type: "text", text: "later" }] },
    { expiresAt: clock.now() + 3_000_000, claim: false },
  );
  await outbox.enqueue([later], { lease });
  expect(await outbox.hasOpen(DESTINATION)).toBe(true);
  const reported = delivery.notDelivered({ ...REPORT, messageId: "m9" });
  expect(await Promise.race([reported, clock.settle().then(() => "waits")])).toBeUndefined();
});

it("waits for the receipt if the report arrives before it", async () => {
  const taken = Promise.withResolvers<void>();
  const { delivery, outbox, clock, id } = await setup(taken.promise);
  const reported = delivery.notDelivered(REPORT);
  await clock.settle();
  expect((await outbox.get(id))?.state).toBe("sending");
  taken.resolve();
  await clock.advance(200);
  await clock.advance(200);
  expect(await reported).toMatchObject({ id });
  expect((await outbox.get(id))?.state).toBe("dead");
});

it("asks for a repetition of the report if the row is still being sent after ten seconds", async () => {
  const taken = Promise.withResolvers<void>();
  const { delivery, clock } = await setup(taken.promise);
  const reported = delivery.notDelivered(REPORT);
  for (let waited = 0; waited <= 10_200; waited += 200) await clock.advance(200);
  expect(await reported).toBe("busy");
  taken.resolve();
});
