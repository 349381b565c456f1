import {
  type ChannelContext,
  createGapDetector,
  type EmitResult,
  emitAll,
  eventBase,
  eventFacts,
  type Gap,
  type InboundEvent,
  isPayload,
  type NameResolver,
  objectAt,
  type Payload,
  parsePayload,
  reasonOf,
  retryUntilDone,
  textAt,
} from "@signalbox/channel";
import { addressCodec, type Self } from "../address.ts";
import type { SignalConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { listMentioned } from "./body.ts";
import { type Content, findContent, readEnvelope } from "./envelope.ts";
import type { StreamEvent } from "./event-stream.ts";

interface Services {
  readonly self: () => Self;
  readonly people: NameResolver;
  /** Fires when the account is stopped. */
  readonly stopped: AbortSignal;
  /** Remembers a problem of the whole account. */
  note(problem: string): void;
}

/** Emits the events of the stream. signal-cli keeps no message after it has written it to the stream. */
export class Receiver {
  readonly #context: ChannelContext<SignalConfig>;
  readonly #services: Services;
  readonly #gaps: ReturnType<typeof createGapDetector>;
  readonly #key: string;
  #lastEventId: string | undefined;
  /** True if a message was not accepted before the account was stopped. */
  #isIncomplete = false;

  constructor(context: ChannelContext<SignalConfig>, services: Services) {
    this.#context = context;
    this.#services = services;
    this.#gaps = createGapDetector(context, context.config.account);
    this.#key = `${context.config.account} last event`;
  }

  /** The last stored event, if signal-cli numbers events. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Reports the gap that a crash has left. Call it before messages are received. */
  async begin(): Promise<void> {
    await this.#gaps.begin((gap) => this.#context.emit(this.#createGap(gap)));
    const stored = await this.#context.state.get(this.#key);
    this.#lastEventId = typeof stored === "string" ? stored : undefined;
  }

  /** Call it when no message is being received. A message that was not accepted leaves a gap. */
  async end(): Promise<void> {
    if (!this.#isIncomplete) await this.#gaps.end();
  }

  /** Reports messages that may have been lost while the stream was interrupted. */
  async reportGap(gap: Gap): Promise<void> {
    // Numbered events are delivered again after a reconnection.
    if (this.#lastEventId === undefined) await this.#emitUntilAccepted([this.#createGap(gap)]);
  }

  /** Emits the events of a message until they are accepted. Resolves earlier only if the account is stopped. */
  async receive({ id, data }: StreamEvent): Promise<void> {
    if (!(await this.#emitUntilAccepted(await this.#read(data)))) return;
    await this.#store(() => this.#gaps.note());
    if (id === undefined || id === "") return;
    this.#lastEventId = id;
    await this.#store(() => this.#context.state.set(this.#key, id));
  }

  /** Logs a failure. An older note or id only makes a gap longer or events arrive again, which the host recognizes. */
  async #store(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      this.#context.logger.warn("the state of the stream could not be stored", { reason: reasonOf(error) });
    }
  }

  async #read(data: string): Promise<readonly InboundEvent[]> {
    const { logger, config } = this.#context;
    const payload = parsePayload(data) ?? {};
    // The account of a daemon that was started for a single account cannot be chosen.
    const account = textAt(payload, "account");
    if (account !== undefined && account !== config.account) {
      this.#services.note(`Signal: signal-cli serves another account than ${config.account}`);
      return [];
    }
    const envelope = objectAt(payload, "envelope");
    const content = findContent(envelope, this.#services.self());
    if (content === undefined) {
      const { exception } = payload;
      if (isPayload(exception))
        logger.warn("signal-cli could not read a message", { type: textAt(exception, "type") ?? "unknown" });
      return [];
    }
    try {
      return await this.#toEvents(envelope, content);
    } catch (error) {
      logger.error("a message could not be read", { reason: reasonOf(error) });
      return [];
    }
  }

  async #toEvents(envelope: Payload, content: Content): Promise<readonly InboundEvent[]> {
    const { self, people } = this.#services;
    const signal = AbortSignal.timeout(limits.namesMs);
    const ids = listMentioned(content.data, self());
    const found = await Promise.all(ids.map(async (id) => [id, (await people(id, signal))?.name] as const));
    const names = new Map(found.flatMap(([id, name]) => (name === undefined ? [] : [[id, name] as const])));
    const facts = eventFacts(this.#context, this.#context.config.account);
    return readEnvelope(envelope, content, { ...facts, self: self(), names });
  }

  /** Returns false if the account was stopped before all events were accepted. */
  async #emitUntilAccepted(events: readonly InboundEvent[]): Promise<boolean> {
    let result: EmitResult | "ignored" | "malformed" = "ignored";
    const { clock, logger } = this.#context;
    const work = async (): Promise<void> => {
      result = "rejected";
      result = await emitAll(this.#context, events);
      if (result === "rejected") throw new Error("the host rejected it");
    };
    if (events.length > 0)
      await retryUntilDone(work, {
        clock,
        logger,
        signal: this.#services.stopped,
        failing: "a message could not be stored yet",
      });
    const isAccepted = (result as string) !== "rejected";
    this.#isIncomplete ||= !isAccepted;
    return isAccepted;
  }

  #createGap(gap: Gap): InboundEvent {
    const { account } = this.#context.config;
    const base = eventBase("signal", eventFacts(this.#context, account), {
      eventId: `gap ${gap.from}`,
      conversation: { id: account, kind: "direct" },
      address: addressCodec.encode({ person: account }),
      sender: { id: account, isBot: true, isSelf: true },
    });
    return { ...base, type: "lifecycle", what: "gap", detail: { ...gap } };
  }
}
