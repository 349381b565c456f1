import {
  type Backfill,
  createBackfill,
  createOrder,
  deadline,
  type Handled,
  type MessageEvent,
  type Payload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import type { SlackApi } from "../api.ts";
import type { History } from "../history.ts";
import { limits } from "../limits.ts";
import type { CommandAnswers } from "../outbound/command-answers.ts";
import { renderForm } from "../outbound/forms.ts";
import { ownerOf } from "../people.ts";
import type { Envelope } from "./envelope.ts";
import { type Read, teamOf } from "./event-base.ts";
import { channelOf, readEnvelope } from "./events.ts";
import { type FactsPorts, lookUpFacts } from "./facts.ts";
import { formToOpen } from "./forms.ts";
import { missedMessages } from "./missed.ts";

/** The way of an event from the wire to `emit`. */
export interface Receiver {
  accept(envelope: Envelope): Promise<Handled>;
  /** What was said while nothing could come in. */
  readonly backfill: Backfill;
}

interface ReceiverOptions extends FactsPorts {
  readonly api: SlackApi;
  readonly history: History;
  readonly commands: CommandAnswers;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { context, self, history } = options;
  const { logger, clock } = context;
  const order = createOrder();
  const backfill = createBackfill<Envelope>({
    state: context.state,
    clock,
    logger,
    botId: ownerOf(self),
    read: (place, since, signal) => missedMessages({ history, clock }, place, since, signal),
    take: accept,
  });

  async function accept(envelope: Envelope): Promise<Handled> {
    const asked = envelope.kind === "interaction" ? formToOpen(envelope.body) : undefined;
    if (asked !== undefined) return openForm(options, asked);
    const place = channelOf(envelope);
    const reading = read(options, envelope);
    const event = await (place === undefined ? reading : order.next(place, reading));
    if (typeof event === "string") return event;
    const handled = await context.emit(event);
    if (handled !== "rejected" && event.type === "message") await noted(event);
    return handled;
  }

  async function noted({ address, timestamp, addressed }: MessageEvent): Promise<void> {
    const { channel, thread } = addressCodec.decode(address);
    // What is said in threads is not among what a conversation lists.
    const marks = [address, ...(thread === undefined ? [] : [addressCodec.encode({ channel })])];
    const wanted = addressed === "none" ? marks.slice(-1) : marks;
    for (const mark of wanted) await backfill.note(mark, timestamp);
  }

  return { accept, backfill };
}

/** `rejected`: what decides about it could not be found out in time. */
async function read(options: ReceiverOptions, envelope: Envelope): Promise<Read | "rejected"> {
  const facts = await lookUpFacts(options, envelope);
  if (facts === undefined) return "rejected";
  const event = readEnvelope(envelope, facts);
  if (typeof event === "string") return event;
  if (event.type === "message") await remember(options, event, envelope);
  if (event.type === "command") await keepCommand(options, envelope.body);
  return event;
}

/** A click is good for it for three seconds, and once: who comes too late clicks again. */
async function openForm(
  { api, context }: ReceiverOptions,
  { form, triggerId }: NonNullable<ReturnType<typeof formToOpen>>,
): Promise<Handled> {
  const limit = deadline(limits.triggerMs, context.signal);
  const options = { what: "opening a form", write: false, signal: limit.signal };
  try {
    await api.call("views.open", { trigger_id: triggerId, view: renderForm(form) }, options);
  } catch (error) {
    context.logger.warn("a form could not be opened", { reason: reasonOf(error) });
  } finally {
    limit.end();
  }
  return "ignored";
}

async function keepCommand({ commands }: ReceiverOptions, body: Payload): Promise<void> {
  const [trigger, url] = [textAt(body, "trigger_id"), textAt(body, "response_url")];
  if (trigger !== undefined && url !== undefined) await commands.keep(trigger, url);
}

/** Streams want to know whom they answer. */
async function remember(
  { self, places }: ReceiverOptions,
  { messageId: id, sender }: MessageEvent,
  { body, ...rest }: Envelope,
): Promise<void> {
  const event = "event" in rest ? rest.event : {};
  // Of people from elsewhere Slack tells their own workspace.
  const teamId = textAt(event, "user_team") ?? textAt(event, "team") ?? teamOf(body) ?? self.teamId;
  const [channel = "", ts = ""] = id.split(/:(.*)/s);
  if (!sender.isBot) await places.wrote({ channel, ts }, { userId: sender.id, teamId });
}
