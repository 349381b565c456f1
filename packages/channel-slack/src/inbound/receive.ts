import {
  type Backfill,
  createBackfill,
  createOrder,
  deadline,
  type HandleResult,
  type MessageEvent,
  type Payload,
  reasonOf,
  textAt,
} from "@signalbox/channel";
import { addressCodec } from "../address.ts";
import type { SlackApi } from "../api.ts";
import { limits } from "../limits.ts";
import type { CommandResponses } from "../outbound/command-responses.ts";
import { renderForm } from "../outbound/forms.ts";
import { getStateKey } from "../people.ts";
import type { Envelope } from "./envelope.ts";
import { getTeamId, type Read } from "./event-base.ts";
import { getChannelId, readEnvelope } from "./events.ts";
import { type FactSources, lookUpFacts } from "./facts.ts";
import { formToOpen } from "./form-submissions.ts";
import { missedMessages } from "./missed-messages.ts";

/** Reads deliveries and emits the events. */
export interface Receiver {
  accept(envelope: Envelope): Promise<HandleResult>;
  /** Reads messages that arrived while the account was offline. */
  readonly backfill: Backfill;
}

interface ReceiverOptions extends FactSources {
  readonly api: SlackApi;
  readonly commands: CommandResponses;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { context, self, history } = options;
  const { logger, clock } = context;
  const order = createOrder();
  const backfill = createBackfill<Envelope>({
    state: context.state,
    clock,
    logger,
    botId: getStateKey(self),
    read: (place, since, signal) => missedMessages({ history, clock }, place, since, signal),
    emit: accept,
    maxDelayMs: limits.orderMs,
  });

  /** Emits a live event after the missed messages of its conversation and its thread. */
  async function acceptLive(envelope: Envelope): Promise<HandleResult> {
    if (envelope.kind === "event") await backfill.inOrder(...getMarks(envelope));
    return accept(envelope);
  }

  async function accept(envelope: Envelope): Promise<HandleResult> {
    const asked = envelope.kind === "interaction" ? formToOpen(envelope.body) : undefined;
    if (asked !== undefined) return openForm(options, asked);
    const place = getChannelId(envelope);
    const reading = read(options, envelope);
    const event = await (place === undefined ? reading : order.next(place, reading));
    if (typeof event === "string") return event;
    const handled = await context.emit(event);
    if (handled !== "rejected" && event.type === "message") await noteProgress(event);
    return handled;
  }

  async function noteProgress({ address, timestamp, addressed }: MessageEvent): Promise<void> {
    const { channel, thread } = addressCodec.decode(address);
    // A conversation's history does not contain the replies in its threads.
    const marks = [address, ...(thread === undefined ? [] : [addressCodec.encode({ channel })])];
    const wanted = addressed === "none" ? marks.slice(-1) : marks;
    for (const mark of wanted) await backfill.note(mark, timestamp);
  }

  return { accept: acceptLive, backfill };
}

/** Returns the watermarks that an event concerns. */
function getMarks(envelope: Extract<Envelope, { readonly kind: "event" }>): readonly string[] {
  const channel = getChannelId(envelope);
  if (channel === undefined) return [];
  const thread = textAt(envelope.event, "thread_ts");
  return [{ channel }, ...(thread === undefined ? [] : [{ channel, thread }])].map((to) =>
    addressCodec.encode(to),
  );
}

/** Returns `rejected` if a required lookup failed or timed out. */
async function read(options: ReceiverOptions, envelope: Envelope): Promise<Read | "rejected"> {
  const facts = await lookUpFacts(options, envelope);
  if (facts === undefined) return "rejected";
  const event = readEnvelope(envelope, facts);
  if (typeof event === "string") return event;
  if (event.type === "message") await rememberAuthor(options, event, envelope);
  if (event.type === "command") await storeCommand(options, envelope.body);
  return event;
}

/** A trigger can be used only once and only within three seconds. After that, the user has to click again. */
async function openForm(
  { api, context }: ReceiverOptions,
  { form, triggerId }: NonNullable<ReturnType<typeof formToOpen>>,
): Promise<HandleResult> {
  const limit = deadline(limits.triggerMs, context.signal);
  const options = { what: "opening a form", write: false, signal: limit.signal };
  try {
    await api.call("views.open", { trigger_id: triggerId, view: renderForm(form) }, options);
  } catch (error) {
    context.logger.warn("failed to open a form", { reason: reasonOf(error) });
  } finally {
    limit.end();
  }
  return "ignored";
}

async function storeCommand({ commands }: ReceiverOptions, body: Payload): Promise<void> {
  const [trigger, url] = [textAt(body, "trigger_id"), textAt(body, "response_url")];
  if (trigger !== undefined && url !== undefined) await commands.keep(trigger, url);
}

/** Streams require the recipient. */
async function rememberAuthor(
  { self, places }: ReceiverOptions,
  { messageId: id, sender }: MessageEvent,
  { body, ...rest }: Envelope,
): Promise<void> {
  const event = "event" in rest ? rest.event : {};
  // For users from other companies, Slack sends the workspace of the user.
  const teamId = textAt(event, "user_team") ?? textAt(event, "team") ?? getTeamId(body) ?? self.teamId;
  const [channel = "", ts = ""] = id.split(/:(.*)/s);
  if (!sender.isBot) await places.wrote({ channel, ts }, { userId: sender.id, teamId });
}
