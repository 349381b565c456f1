import type { Capabilities, Outbound, OutboundPart, ReconcileResult, SendOptions } from "@signalbox/channel";
import { onTestFinished } from "vitest";
import type { DeliveryAccount } from "../src/account.ts";
import { createDelivery } from "../src/delivery.ts";
import type { Delivery, DeliveryOptions } from "../src/delivery-types.ts";
import type { GetLanguage } from "../src/row-phrases.ts";
import { createOutboxRow } from "../src/rows.ts";
import { type OpenOutbox, openOutbox } from "./open-outbox.ts";
import { KEYED, plainAccount, silentLogger } from "./plain.ts";

type Send = (message: Outbound, options: SendOptions) => Promise<readonly string[]>;

export interface OpenDelivery extends OpenOutbox {
  readonly delivery: Delivery;
  /** The reported outcomes, in order. */
  readonly outcomes: string[];
  /** Adds a message with these parts to the outbox, hands it over, and returns the id of its row. */
  say(address: string, ...parts: (string | OutboundPart)[]): Promise<string>;
  stateOf(id: string): Promise<string | undefined>;
}

/** A platform without idempotency keys: a doubtful message is looked up by its content. */
export const READBACK: Capabilities = { ...KEYED, delivery: { readback: true } };
export const DESTINATION = { channel: "plain", account: "main", address: "oc_a" };
export const full = new Error("the disk is full");

/** Creates a delivery with an outbox in memory and one account whose `send` is a parameter. */
export async function openDelivery(
  send: Send,
  extra: {
    readonly capabilities?: Capabilities;
    readonly reconcile?: (part: number, attemptedAt: number) => Promise<ReconcileResult>;
    readonly account?: (running: DeliveryAccount) => DeliveryAccount | undefined;
    readonly configured?: boolean;
    readonly getLanguage?: GetLanguage;
    readonly outbox?: Partial<DeliveryOptions["outbox"]>;
    /** The text of a row that an earlier process was sending to {@link DESTINATION} when it was killed. */
    readonly left?: string;
    /** Returns the remaining duration of the lease in milliseconds. */
    readonly getLeaseMs?: () => number;
    readonly unableToSend?: NonNullable<DeliveryOptions["unableToSend"]>;
  } = {},
): Promise<OpenDelivery> {
  const opened = await openOutbox();
  const { outbox, clock, takeOver } = opened;
  if (extra.left !== undefined) {
    const payload: Outbound = { parts: [{ type: "text", text: extra.left }] };
    const row = createOutboxRow(DESTINATION, payload, { expiresAt: clock.now() + 86_400_000, claim: true });
    await outbox.enqueue([row], { lease: opened.lease });
  }
  const lease = await takeOver();
  const { reconcile } = extra;
  const running = plainAccount(
    {
      async send(_to, message, options) {
        const ids = await send(message, options);
        return { parts: ids.map((messageId, at) => ({ index: (options.startAt ?? 0) + at, messageId })) };
      },
      ...(reconcile && { reconcile: ({ part, attemptedAt }) => reconcile(part, attemptedAt) }),
    },
    { capabilities: extra.capabilities ?? KEYED },
  );
  const outcomes: string[] = [];
  const delivery = createDelivery({
    outbox: overriding(outbox, extra.outbox ?? {}),
    lease,
    clock,
    ...(extra.getLeaseMs && { getLeaseMs: extra.getLeaseMs }),
    ...(extra.unableToSend && { unableToSend: extra.unableToSend }),
    logger: silentLogger,
    configured: () => extra.configured ?? true,
    account: () => (extra.account === undefined ? running : extra.account(running)),
    isRetryable: (error) => error === full,
    random: () => 0,
    getLanguage: extra.getLanguage,
    onOutcome: (_row, outcome) => outcomes.push(outcome),
  });
  onTestFinished(() => delivery.stop(0));
  return {
    ...opened,
    lease,
    delivery,
    outcomes,
    async say(address, ...parts) {
      const payload: Outbound = {
        parts: parts.map((part) => (typeof part === "string" ? { type: "text", text: part } : part)),
      };
      const destination = { ...DESTINATION, address };
      const row = createOutboxRow(destination, payload, { expiresAt: clock.now() + 3_000_000, claim: true });
      const [added] = await outbox.enqueue([row], { lease });
      if (!added) throw new Error("The outbox returned no row.");
      delivery.deliver([added]);
      await clock.settle();
      return added.id;
    },
    stateOf: async (id) => (await outbox.get(id))?.state,
  };
}

/** The outbox with some of its methods replaced. */
function overriding<Part extends object>(part: Part, methods: Partial<Part>): Part {
  return new Proxy(part, { get: (target, name) => Reflect.get(methods, name) ?? Reflect.get(target, name) });
}

export const textOf = ({ parts }: Outbound): string =>
  parts.map((part) => ("text" in part ? part.text : part.type)).join("|");
