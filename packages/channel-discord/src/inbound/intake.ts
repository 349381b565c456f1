import { type ChannelLogger, isChannelError, isPayload, reasonOf } from "@signalbox/channel";
import type { Session } from "../connection/session.ts";
import type { GatewayEvent } from "./events.ts";
import type { Receiver } from "./receive.ts";

const MAX_TRIES = 3;

interface IntakeOptions {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly logger: ChannelLogger;
  /** Failed attempts by event, over all connections. */
  readonly unreadable: Map<string, number>;
  /**
   * Called if the host rejected an event. The connection must be reopened, so that Discord sends it again.
   * Nothing more is accepted from this connection.
   */
  refused(): void;
}

/** Takes the events of one connection in order. */
export interface Intake {
  take(frame: unknown): void;
  /** Resolves when all received events are handled. */
  settled(): Promise<void>;
}

/**
 * Creates the intake of a connection. The session's sequence advances only over events that the host
 * accepted, and all before them. Events are read one after the other but emitted concurrently, so that many
 * share one commit.
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

  /** Counts failed attempts, so that one unreadable event does not block those after it. */
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
