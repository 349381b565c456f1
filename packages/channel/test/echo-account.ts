import {
  assertPoll,
  type ButtonsPart,
  type Channel,
  type ChannelContext,
  ChannelError,
  createBackfill,
  createEditedDraft,
  createFetchedMedia,
  createWebhook,
  equalInConstantTime,
  fitText,
  isPayload,
  isRecent,
  type OutboundPart,
  type Payload,
  parsePayload,
  readMedia,
  rejectOnAbort,
  sendParts,
  textAt,
  textLength,
} from "../src/index.ts";
import { type EchoAddress, type EchoConfig, echoLimits } from "./echo-config.ts";
import { readEvent, readMissed } from "./echo-events.ts";
import { type EchoButton, type EchoMessage, type EchoServer, people, servers, sign } from "./echo-server.ts";

const { text: limit, sendMedia, editWindowMs } = echoLimits;

/** Creates an account of the echo channel. */
export function createEcho(context: ChannelContext<EchoConfig>) {
  const server = getServer(context.config);
  const { clock, config } = context;
  const messages = createMessages(server, context);
  const { request } = messages;
  let state: "starting" | "ready" | "stopped" = "starting";

  const backfill = createBackfill<EchoMessage>({
    state: context.state,
    clock,
    botId: "bot",
    read: async (place, since) => messages.in(place).filter(({ by, at }) => by !== "self" && at >= since),
    emit: (message) => context.emit(readMissed(message, context)),
  });

  const send: Channel<EchoAddress>["send"] = (to, message, options) =>
    sendParts(message, options, async ({ part, key }) => {
      if (options.signal.aborted) throw new ChannelError("transient", "Echo: the signal has already fired");
      if (part.type === "poll") {
        const { question, options: choices, multiple = false } = assertPoll(part, echoLimits);
        server.polls.push({ messageId: key, question, options: choices, multiple });
        return messages.post(to.id, { type: "text", text: "[poll]" }, key);
      }
      if (part.type !== "media") {
        const isSilent = server.failure === "silent";
        const id = messages.post(to.id, part, key);
        return isSilent ? noResponse(options.signal) : id;
      }
      const content = await readMedia(part, sendMedia, options.openMedia);
      server.files.set(key, { messageId: key, kind: part.kind, name: part.name, content });
      return messages.post(to.id, { type: "text", text: `[${part.kind}]` }, key);
    });

  return {
    async start(signal: AbortSignal) {
      signal.throwIfAborted();
      if (state !== "starting") return;
      state = "ready";
      server.commands = (context.commands ?? []).map(({ name }) => name);
      void backfill.catchUp({ signal });
    },
    async stop() {
      state = "stopped";
      await backfill.stop();
    },
    async closePoll(_to: EchoAddress, messageId: string) {
      const poll = server.polls.find((each) => each.messageId === messageId);
      if (poll === undefined) throw new ChannelError("invalid", "Echo: unknown poll");
      const votes = server.votes.get(messageId) ?? [];
      return { options: poll.options.map((text, index) => ({ text, votes: votes[index] ?? 0 })) };
    },
    health: () =>
      messages.isRevoked() ? { state: "down" as const, reason: "the password is wrong" } : { state },
    self: () => ({ id: "bot" }),
    webhook: createWebhook<Payload>({
      maxBytes: 10_000,
      logger: context.logger,
      verify(body, headers) {
        const signedAt = Number(headers.get("x-time") ?? Number.NaN);
        if (!isRecent(signedAt, clock.now(), 60_000)) return { kind: "forged", reason: "too old" };
        if (!equalInConstantTime(headers.get("x-signature") ?? "", sign(body, signedAt, config.password)))
          return { kind: "forged", reason: "the signature is wrong" };
        const event = parsePayload(Buffer.from(body).toString());
        if (event === undefined) return { kind: "malformed", reason: "the body is not JSON" };
        const challenge = textAt(event, "challenge");
        return challenge === undefined ? { kind: "event", event } : { kind: "answer", body: { challenge } };
      },
      async handle(payload) {
        if (state !== "ready") return "rejected";
        const event = readEvent(payload, context);
        const result = await context.emit(event);
        if (result !== "rejected") await backfill.note(event.conversation.id, event.timestamp);
        return result;
      },
    }),
    send,
    edit: async (_to, messageId, { parts: [part, ...more] }) => {
      if (part === undefined || more.length > 0)
        throw new ChannelError("invalid", "an edit must have exactly one part");
      messages.edit(messageId, part);
    },
    remove: async (_to, messageId) => messages.remove(messageId),
    react: async (_to, messageId, { emoji, on }) =>
      request(() => {
        const reactions = server.reactions.get(messageId) ?? new Set();
        server.reactions.set(messageId, reactions);
        if (on) reactions.add(emoji);
        else reactions.delete(emoji);
      }),
    typing: async () => request(() => {}),
    openDirect: async (userId: string) => {
      if (!people.has(userId)) throw new ChannelError("not_found", "unknown person");
      return { id: "direct" };
    },
    history: async ({ id }, { limit: max, before = Number.POSITIVE_INFINITY }) =>
      request(() =>
        messages
          .in(id)
          .filter(({ at }) => at < before)
          .slice(-max)
          .map(({ id: messageId, by, text, at }) => ({
            messageId,
            sender: { id: by, isBot: by !== "person", isSelf: by === "self" },
            text,
            timestamp: at,
          })),
      ),
    resolve: async (userId: string) => {
      const name = people.get(userId);
      return name === undefined ? undefined : { name };
    },
    openDraft: async (to: EchoAddress, options) =>
      createEditedDraft(
        {
          snapshot: (text) => fitText(text, limit),
          render: (part) => ("text" in part ? part.text : ""),
          create: async (text, { key }) => {
            const id = messages.post(to.id, { type: "text", text }, key);
            server.drafted.push(text);
            return id;
          },
          change: async (id, text) => {
            messages.change(id, text);
            server.drafted.push(text);
          },
          remove: async (id) => messages.remove(id),
          sendRest: (message, how) => send(to, message, { ...options, ...how }),
        },
        options,
      ),
    async fetchMedia(media) {
      if (!isPayload(media.ref) || media.ref["address"] !== echoLimits.attachment)
        throw new ChannelError("invalid", "not an attachment on this platform");
      const { body, headers, ok } = server.attachment();
      if (!ok || body === null) throw new ChannelError("not_found", "the attachment no longer exists");
      return createFetchedMedia({ body, headers }, media, echoLimits.mediaBytes);
    },
    async reconcile({ idempotencyKey, part }) {
      const message = server.messages.get(`${idempotencyKey}.${part}`);
      return message === undefined ? { outcome: "not_sent" } : { outcome: "sent", messageId: message.id };
    },
  } satisfies Channel<EchoAddress>;
}

/** The platform never responds. */
async function noResponse(signal: AbortSignal): Promise<never> {
  return rejectOnAbort(
    new Promise<never>(() => {}),
    signal,
    () => new ChannelError("unknown_outcome", "Echo: no response"),
  );
}

function getServer({ server: name }: EchoConfig): EchoServer {
  const server = servers.get(name);
  if (server === undefined) throw new ChannelError("auth", "no such server");
  return server;
}

/** Requests of an account to its server. */
function createMessages(server: EchoServer, { clock }: Pick<ChannelContext, "clock">) {
  let isRevoked = false;

  /** Performs a request, which may fail in the way that the test has set. */
  function request<T>(work: () => T): T {
    const { failure } = server;
    if (server.revoked) {
      isRevoked = true;
      throw new ChannelError("auth", "the password is wrong", { scope: "account" });
    }
    if (server.away) throw new ChannelError("transient", "the platform does not respond");
    server.failure = undefined;
    if (failure === "rate")
      throw new ChannelError("rate_limited", "too many requests", { retryAfterMs: 500 });
    if (failure === "rate_until")
      throw new ChannelError("rate_limited", "too many requests", { retryAfterMs: 3000 });
    if (failure === "server") throw new ChannelError("transient", "internal error");
    const result = work();
    if (failure === "lost_response") throw new ChannelError("unknown_outcome", "the response was lost");
    return result;
  }

  function change(id: string, to: (message: EchoMessage) => Partial<EchoMessage>): void {
    request(() => {
      const message = server.messages.get(id);
      if (message === undefined) throw new ChannelError("not_found", "the message no longer exists");
      if (clock.now() - message.at + server.passedMs > editWindowMs)
        throw new ChannelError("permission", "too old");
      Object.assign(message, to(message));
    });
  }

  return {
    request,
    isRevoked: () => isRevoked,
    in: (place: string): readonly EchoMessage[] =>
      [...server.messages.values()].filter((message) => message.place === place),
    post(place: string, part: OutboundPart, key: string): string {
      const isQuestion = part.type === "buttons";
      const text = getText(part, isQuestion);
      const buttons = isQuestion ? createButtons(part.buttons) : [];
      return request(() => {
        const message = { id: key, place, by: "self", at: clock.now(), text, buttons };
        if (!server.messages.has(key)) server.messages.set(key, message);
        return key;
      });
    },
    change: (id: string, text: string): void => change(id, () => ({ text })),
    edit: (id: string, part: OutboundPart): void =>
      change(id, ({ buttons }) => ({
        text: getText(part, buttons.length > 0),
        buttons: part.type === "buttons" ? createButtons(part.buttons) : [],
      })),
    remove: (id: string): void => request(() => void server.messages.delete(id)),
  };
}

function getText(part: OutboundPart, isQuestion: boolean): string {
  if (!("text" in part)) throw new ChannelError("unsupported", "the part has no text");
  const max = isQuestion ? echoLimits.cards.textMax : limit.max;
  if (textLength(part.text, limit.unit) > max) throw new ChannelError("too_large", "too long");
  return part.text;
}

function createButtons(buttons: ButtonsPart["buttons"]): readonly EchoButton[] {
  if (buttons.length > echoLimits.cards.buttons) throw new ChannelError("too_large", "too many buttons");
  return buttons.map(({ id, label, value, opensForm = false }) => {
    if (Buffer.byteLength(JSON.stringify(value ?? null)) > echoLimits.cards.callbackBytes)
      throw new ChannelError("too_large", "the value of a button is too long");
    return { label, opensForm, data: JSON.stringify(value === undefined ? { id } : { id, value }) };
  });
}
