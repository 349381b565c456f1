import { Buffer } from "node:buffer";
import type { Capabilities } from "../contract/capabilities.ts";
import type { Channel, ChannelContext, ChannelDefinition, ReadBody } from "../contract/definition.ts";
import { isChannelError } from "../contract/errors.ts";
import { readBody } from "../inbound/webhook.ts";
import { type Launch, spawnWorker } from "./account-process.ts";
import { accountMethods } from "./methods.ts";
import { RemoteDraft } from "./remote-draft.ts";
import { SupervisedAccount } from "./supervised-account.ts";

/** The longest request of a platform that is handed on, in bytes; the channel's own limit is lower. */
const MAX_BODY = 10_000_000;

/**
 * The same channel, with each account in a process of its own: its SDK's memory and crashes are not the host's. The
 * definition itself is loaded here, which loads no SDK.
 * @param module the URL of the file that exports the definition
 * @param launch starts what runs an account, instead of a Node.js process on this machine
 */
export function inOwnProcess<Config, Address, C extends Capabilities>(
  definition: ChannelDefinition<Config, Address, C>,
  module: string,
  launch: Launch = spawnWorker,
): ChannelDefinition<Config, Address, C> {
  // What it would load ahead is not needed here.
  const { load: _, ...data } = definition;
  return {
    ...data,
    async create(context: ChannelContext<Config>) {
      const supervised = new SupervisedAccount(module, definition.id, context, launch);
      const methods = await supervised.open();
      return channelOver(supervised, definition.codec, new Set(methods));
    },
  };
}

/** What every channel has; of the rest a process has what its channel has. */
type AlwaysThere = "start" | "stop" | "health" | "self" | "send";

function channelOver<Address>(
  supervised: SupervisedAccount,
  codec: ChannelDefinition<unknown, Address>["codec"],
  methods: ReadonlySet<string>,
): Channel<Address> {
  const available = Object.entries(optionalMethods(supervised, codec)).filter(([name]) => methods.has(name));
  return {
    start: (signal) => supervised.start(signal),
    stop: (options) => supervised.stop(options),
    health: () => supervised.health,
    self: () => supervised.self,
    send: (to, message, { signal, idempotencyKey, startAt = 0, ...heard }) =>
      supervised.sending(heard, (callbacks) =>
        supervised.call(
          accountMethods.send,
          { to: codec.encode(to), message, idempotencyKey, startAt, callbacks },
          signal,
        ),
      ),
    ...Object.fromEntries(available),
  };
}

function optionalMethods<Address>(
  supervised: SupervisedAccount,
  codec: ChannelDefinition<unknown, Address>["codec"],
): Required<Omit<Channel<Address>, AlwaysThere>> {
  return {
    webhook: (request, read) => handRequest(supervised, request, read),
    edit: (to, messageId, message, signal) =>
      supervised.call(accountMethods.edit, { to: codec.encode(to), messageId, message }, signal),
    remove: (to, messageId, signal) =>
      supervised.call(accountMethods.remove, { to: codec.encode(to), messageId }, signal),
    closePoll: (to, messageId, signal) =>
      supervised.call(accountMethods.closePoll, { to: codec.encode(to), messageId }, signal),
    react: (to, messageId, reaction, signal) =>
      supervised.call(accountMethods.react, { to: codec.encode(to), messageId, ...reaction }, signal),
    typing: (to, state, signal) =>
      supervised.call(accountMethods.typing, { to: codec.encode(to), ...state }, signal),
    openDraft: (to, options) => new RemoteDraft(supervised, codec.encode(to), options).opened(),
    reconcile: ({ to, ...intent }, signal) =>
      supervised.call(accountMethods.reconcile, { ...intent, to: codec.encode(to) }, signal),
    async openDirect(userId, signal) {
      const { to } = await supervised.call(accountMethods.openDirect, { userId }, signal);
      return codec.decode(to);
    },
    history: (to, { signal, ...options }) =>
      supervised.call(accountMethods.history, { to: codec.encode(to), ...options }, signal),
    async resolve(userId, signal) {
      const person = await supervised.call(accountMethods.resolve, { userId }, signal).catch(() => undefined);
      return person?.name === undefined ? undefined : { name: person.name };
    },
    checks: (signal) => supervised.call(accountMethods.checks, {}, signal),
    async fetchMedia(media, signal) {
      const { stream, ...rest } = await supervised.call(accountMethods.fetchMedia, { media }, signal);
      return { ...rest, body: supervised.read(stream) };
    },
  };
}

/** A platform's request, which comes again where the process cannot take it. */
async function handRequest(
  supervised: SupervisedAccount,
  request: Request,
  read: ReadBody | undefined,
): Promise<Response> {
  const bytes = await readBody(request, read, MAX_BODY);
  if (bytes === undefined) return Response.json({ error: `body over ${MAX_BODY} bytes` }, { status: 413 });
  try {
    const { status, headers, body } = await supervised.call(accountMethods.webhook, {
      method: request.method,
      url: request.url,
      headers: [...request.headers],
      body: Buffer.from(bytes).toString("base64"),
    });
    const init = { status, headers };
    return new Response(body === "" ? null : Buffer.from(body, "base64"), init);
  } catch (error) {
    if (!isChannelError(error)) throw error;
    return Response.json({ error: "not now" }, { status: 503, headers: { "retry-after": "15" } });
  }
}
