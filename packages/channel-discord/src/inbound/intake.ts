import { type ChannelLogger, isChannelError, isPayload, reasonOf } from "@signalbox/channel";
import type { Session } from "../connection/session.ts";
import type { Told } from "./events.ts";
import type { Receiver } from "./receive.ts";

const mostTries = 3;

interface IntakeOptions {
  readonly receiver: Receiver;
  readonly session: Session;
  readonly logger: ChannelLogger;
  /** How often each event could not be read, over all connections. */
  readonly unreadable: Map<string, number>;
  /**
   * Something was not taken: Discord has to tell it again. Nothing that comes over this connection is taken any more.
   */
  refused(): void;
}

/** Takes what comes over one connection, in its order. */
export interface Intake {
  take(frame: unknown): void;
  /** Resolves once everything that came in has its end. */
  settled(): Promise<void>;
}

/**
 * The session's position moves on over an event only when the host has taken it and all before it. They are read one
 * after the other, and handed over without waiting for each other, so that many share one commit.
 */
export function createIntake(options: IntakeOptions): Intake {
  const { receiver, session, logger, unreadable, refused } = options;
  const handing = new Set<Promise<void>>();
  let reading: Promise<void> = Promise.resolve();
  let isRefused = false;

  function refuse(reason: string): void {
    if (isRefused) return;
    isRefused = true;
    logger.warn("an event must be redelivered", { reason });
    refused();
  }

  async function handOver(told: Frame, emit: () => Promise<boolean>): Promise<void> {
    try {
      if (await emit()) await session.taken(told.sessionId, told.sequence);
      else refuse("the host did not take it");
    } catch (error) {
      refuse(reasonOf(error));
    }
  }

  async function read(told: Frame): Promise<void> {
    if (isRefused) return;
    try {
      const emit = await receiver.read(told);
      const handed = handOver(told, emit).finally(() => handing.delete(handed));
      handing.add(handed);
      unreadable.delete(told.deliveryId);
    } catch (error) {
      if (isChannelError(error) || !isHopeless(told)) return refuse(reasonOf(error));
      unreadable.delete(told.deliveryId);
      logger.error("an unreadable event was skipped", { type: told.type, reason: reasonOf(error) });
      await handOver(told, async () => true);
    }
  }

  /** What a fault of ours keeps from being read must not keep everything behind it from being heard. */
  function isHopeless({ deliveryId }: Frame): boolean {
    const tries = (unreadable.get(deliveryId) ?? 0) + 1;
    unreadable.set(deliveryId, tries);
    return tries >= mostTries;
  }

  return {
    take(frame) {
      const told = readFrame(frame, session.current()?.sessionId ?? "");
      if (told === undefined) return logger.debug("an unreadable frame was skipped");
      session.received(told.sequence);
      reading = reading.then(() => read(told));
    },
    async settled() {
      await reading;
      await Promise.all(handing);
    },
  };
}

interface Frame extends Told {
  readonly sessionId: string;
  readonly sequence: number;
}

/** Undefined for what is no event. */
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
