import { ChannelError } from "@signalbox/channel";
import { createBirpc } from "birpc";
import { z } from "zod";
import { failure, toError, toFailure } from "./failure.ts";

/** Exchanges messages with the other process. */
export interface Port {
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

/** Calls functions of the other process. `Remote` describes the functions, which take one parameter each. */
export interface Rpc<Remote> {
  /**
   * @param signal is forwarded to the called function
   * @throws ChannelError `transient` if the signal has already fired; the error of {@link Rpc.close} if the connection
   *   is closed; otherwise the error of the called function
   */
  call<Name extends keyof Remote & string>(
    name: Name,
    parameter: Parameter<Remote[Name]>,
    signal?: AbortSignal,
  ): Promise<Result<Remote[Name]>>;
  /** Fails the pending calls, and all later ones, with `error`. */
  close(error: Error): void;
}

type Parameter<F> = F extends (parameter: infer P) => unknown ? P : never;
type Result<F> = F extends (...parameters: never[]) => infer R ? Awaited<R> : never;

/** The messages of birpc, with errors as plain data. */
const envelope = z.discriminatedUnion("t", [
  z.object({ t: z.literal("q"), i: z.string().optional(), m: z.string(), a: z.array(z.unknown()) }),
  z.object({ t: z.literal("s"), i: z.string(), r: z.unknown().optional(), e: failure.optional() }),
]);

/**
 * Connects both processes with birpc. Also transfers abort signals and errors, which structured cloning loses.
 *
 * @param functions the functions that the other process may call
 * @param onInvalid called for a message that does not follow the protocol
 */
export function connect<Remote>(
  port: Port,
  functions: Readonly<Record<string, (parameter: never, signal: AbortSignal) => unknown>>,
  onInvalid: (reason: string) => void,
): Rpc<Remote> {
  const running = new Map<unknown, AbortController>();
  let callCount = 0;
  let closedBy: Error | undefined;

  async function run(name: string, parameter: unknown, call: unknown): Promise<unknown> {
    const local = Object.hasOwn(functions, name) ? functions[name] : undefined;
    if (local === undefined) throw new Error(`There is no function ${name}.`);
    const controller = new AbortController();
    running.set(call, controller);
    try {
      return await local(parameter as never, controller.signal);
    } finally {
      running.delete(call);
    }
  }

  const local = { run, abort: (call: unknown) => running.get(call)?.abort() };
  const rpc = createBirpc<typeof local, typeof local, false>(local, {
    proxify: false,
    // No timeout in birpc, because callers set their own and a rate-limited message may take minutes.
    timeout: -1,
    post: (message) => port.post(message),
    on: (listener) => port.onMessage(listener),
    serialize: (message) => ("e" in message ? { ...message, e: toFailure(message.e) } : message),
    deserialize(message) {
      const { t, ...rest } = envelope.parse(message);
      return "e" in rest && rest.e !== undefined ? { ...rest, t, e: toError(rest.e) } : { ...rest, t };
    },
    resolver: (name, resolved) => (Object.hasOwn(local, name) ? resolved : undefined),
    onGeneralError(error, functionName) {
      if (error instanceof z.ZodError) {
        onInvalid("it sent a message that does not follow the protocol");
        return true;
      }
      // If there is a name, a result could not be cloned, and birpc responds to the call with this error.
      return functionName !== undefined;
    },
  });

  return {
    async call(name, parameter, signal) {
      if (closedBy !== undefined) throw closedBy;
      if (signal?.aborted === true) throw new ChannelError("transient", `${name} was aborted`);
      const call = callCount++;
      const abort = (): void => void rpc.$callEvent("abort", call).catch(() => {});
      signal?.addEventListener("abort", abort, { once: true });
      try {
        return (await rpc.$call("run", name, parameter, call)) as never;
      } finally {
        signal?.removeEventListener("abort", abort);
      }
    },
    close(error) {
      closedBy = error;
      rpc.$close(error);
      for (const controller of running.values()) controller.abort();
    },
  };
}
