import { type ChannelLogger, isChannelError, isPayload, reasonOf } from "@signalbox/channel";
import type { Session } from "../connection/session.ts";
import type { GatewayEvent } from "./events.ts";
import type { Receiver } from "./receive.ts";

const MAX_TRIES = 3;

interface IntakeOptions {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly logger: ChannelLogger;
  /** Number of failed attempts per event, across all connections. */
  readonly unreadable: Map<string, number>;
  /**
   * Called if the host rejected an event. The connection must be reopened, so that Discord redelivers the event. No
   * further events are accepted from this connection.
   */
  refused(): void;
}

/** Handles the events of one connection in order. */
export interface Intake {
  take(frame: unknown): void;
  /** Resolves once all received events have been handled. */
  settled(): Promise<void>;
}

/**
 * Creates the intake of a connection. The session's sequence advances past an event only after the host has accepted it
 * and all events before it. Events are read one at a time but emitted concurrently, so that many share one commit.
 */
export function createIntake(options: IntakeOptions): Intake {
  const { receiver, session, logger, unreadable, refused } = options;
  const handing = new Set<Promise<void>>();
  let reading: Promise<void> = Promise.resolve();
  let isRefused = false;

  function refuse(reason: string): void {
    if (isRefused) return;
    isRefused = true;
    logger.warn("an event was not accepted; reconnecting to receive it again", { reason });
    refused();
  }

  async function handOver(gatewayEvent: Frame, emit: () => Promise<boolean>): Promise<void> {
    try {
      if (await emit()) await session.taken(gatewayEvent.sessionId, gatewayEvent.sequence);
      else refuse("the host rejected it");
    } catch (error) {
      refuse(reasonOf(error));
    }
  }

  async function read(gatewayEvent: Frame): Promise<void> {
    if (isRefused) return;
    try {
      const emit = await receiver.read(gatewayEvent);
      const handed = handOver(gatewayEvent, emit).finally(() => handing.delete(handed));
      handing.add(handed);
      unreadable.delete(gatewayEvent.deliveryId);
    } catch (error) {
      if (isChannelError(error) || !isHopeless(gatewayEvent)) return refuse(reasonOf(error));
      unreadable.delete(gatewayEvent.deliveryId);
      logger.error("skipped an unreadable event", { type: gatewayEvent.type, reason: reasonOf(error) });
      await handOver(gatewayEvent, async () => true);
    }
  }

  /** Counts failed attempts, so that an unreadable event does not block the ones after it. */
  function isHopeless({ deliveryId }: Frame): boolean {
    const tries = (unreadable.get(deliveryId) ?? 0) + 1;
    unreadable.set(deliveryId, tries);
    return tries >= MAX_TRIES;
  }

  return {
    take(frame) {
      const gatewayEvent = readFrame(frame, session.current()?.sessionId ?? "");
      if (gatewayEvent === undefined) return logger.debug("skipped an unreadable frame");
      session.received(gatewayEvent.sequence);
      reading = reading.then(() => read(gatewayEvent));
    },
    async settled() {
      await reading;
      await Promise.all(handing);
    },
  };
}

interface Frame extends GatewayEvent {
  readonly sessionId: string;
  readonly sequence: number;
}

/** Returns `undefined` if the frame is not an event. */
function readFrame(frame: unknown, sessionId: string): Frame | undefined {
  if (!isPayload(frame)) return undefined;
  const { t: type, s: sequence, d: data } = frame;
  if (typeof type !== "string" || typeof sequence !== "number" || !Number.isInteger(sequence))
    return undefined;
  return {
    type,
    sequence,
    sessionId,
    data: isPayload(data) ? data : {},
    deliveryId: `${sessionId}:${sequence}`,
  };
}
