import {
  type Capabilities,
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  isChannelError,
  type ReadBody,
  readBody,
} from "@signalbox/channel";
import { z } from "zod";
import { forkWorker, type Launch } from "./account-process.ts";
import type { ForwardedMethod } from "./functions.ts";
import { RemoteDraft } from "./remote-draft.ts";
import {
  accountChecks,
  history,
  identity,
  pollResult,
  receipt,
  reconciled,
  remoteMedia,
  webhookResponse,
} from "./schemas.ts";
import { SupervisedAccount } from "./supervised-account.ts";

/** Maximum size of a webhook body that is forwarded, in bytes. The limit of each channel is lower. */
const MAX_BODY_BYTES = 10_000_000;

const nothing = z.unknown().transform(() => undefined);

/**
 * Returns the same channel with each account in a separate process. If a process crashes or hangs, the gateway keeps
 * running and starts another one. The definition itself is loaded in the gateway, which loads no SDK.
 *
 * @param module the URL of the file that exports the definition
 * @param launch starts the process; default: a Node.js child process
 * @example
 * ```ts
 * import { telegram } from "@signalbox/channel-telegram";
 *
 * const isolated = inOwnProcess(telegram, import.meta.resolve("@signalbox/channel-telegram"));
 * ```
 */
export function inOwnProcess<Config, Address, C extends Capabilities>(
  definition: ChannelDefinition<Config, Address, C>,
  module: string,
  launch: Launch = forkWorker,
): ChannelDefinition<Config, Address, C> {
  return {
    ...definition,
    async create(context: ChannelContext<Config>) {
      const account = new SupervisedAccount(module, definition.id, context, launch);
      const methods = await account.open();
      return createChannel(account, definition.codec, new Set(methods));
    },
  };
}

type RequiredMethod = "start" | "stop" | "health" | "self" | "send";
type OptionalMethods<Address> = Required<Omit<Channel<Address>, RequiredMethod>>;

/** @param methods the names of the methods that the channel in the process implements */
function createChannel<Address>(
  account: SupervisedAccount,
  codec: ChannelDefinition<unknown, Address>["codec"],
  methods: ReadonlySet<string>,
): Channel<Address> {
  const optional = Object.entries(optionalMethods(account, codec)).filter(([name]) => methods.has(name));
  return {
    start: (signal) => account.start(signal),
    stop: (options) => account.stop(options),
    health: () => account.health,
    self: () => account.self,
    send: (to, message, { signal, idempotencyKey, startAt, ...callbacks }) =>
      account.sending(message, callbacks, (parameters) =>
        account.call(
          "send",
          { to: codec.encode(to), idempotencyKey, startAt, ...parameters },
          receipt,
          signal,
        ),
      ),
    ...Object.fromEntries(optional),
  };
}

function optionalMethods<Address>(
  account: SupervisedAccount,
  codec: ChannelDefinition<unknown, Address>["codec"],
): OptionalMethods<Address> {
  /** Calls a method whose parameters need no conversion. */
  function forward<Result>(
    method: ForwardedMethod,
    to: Address | undefined,
    parameters: readonly unknown[],
    schema: z.ZodType<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const call = { method, to: to === undefined ? undefined : codec.encode(to), parameters };
    return account.call("forward", call, schema, signal);
  }

  return {
    webhook: (request, read) => handleWebhook(account, request, read),
    edit: (to, messageId, message, signal) => forward("edit", to, [messageId, message], nothing, signal),
    remove: (to, messageId, signal) => forward("remove", to, [messageId], nothing, signal),
    closePoll: (to, messageId, signal) => forward("closePoll", to, [messageId], pollResult, signal),
    react: (to, messageId, reaction, signal) => forward("react", to, [messageId, reaction], nothing, signal),
    typing: (to, state, signal) => forward("typing", to, [state], nothing, signal),
    openDraft: (to, options) => RemoteDraft.open(account, codec.encode(to), options),
    reconcile: ({ to, ...intent }, signal) =>
      account.call("reconcile", { ...intent, to: codec.encode(to) }, reconciled, signal),
    openDirect: async (userId, signal) =>
      codec.decode(await forward("openDirect", undefined, [userId], z.string(), signal)),
    history: (to, { signal, limit, before }) =>
      account.call("history", { to: codec.encode(to), limit, before }, history, signal),
    resolve: (userId, signal) => {
      const person = z.object({ name: z.string() }).optional();
      return forward("resolve", undefined, [userId], person, signal).catch(() => undefined);
    },
    identify: (signal) => forward("identify", undefined, [], identity, signal),
    checks: (signal) => forward("checks", undefined, [], accountChecks, signal),
    async fetchMedia(media, signal) {
      const { stream, ...rest } = await forward("fetchMedia", undefined, [media], remoteMedia, signal);
      return { ...rest, body: account.read(stream) };
    },
  };
}

/** Forwards a request from the platform. If the process cannot handle it, the platform should redeliver it. */
async function handleWebhook(
  account: SupervisedAccount,
  request: Request,
  read: ReadBody | undefined,
): Promise<Response> {
  const body = await readBody(request, read, MAX_BODY_BYTES);
  if (body === undefined)
    return Response.json({ error: `body over ${MAX_BODY_BYTES} bytes` }, { status: 413 });
  const { method, url, headers } = request;
  try {
    const response = await account.call(
      "webhook",
      { method, url, headers: [...headers], body },
      webhookResponse,
    );
    return new Response(response.body.byteLength === 0 ? null : response.body, {
      status: response.status,
      headers: response.headers,
    });
  } catch (error) {
    if (!isChannelError(error)) throw error;
    return Response.json({ error: "not now" }, { status: 503, headers: { "retry-after": "15" } });
  }
}
