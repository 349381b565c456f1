import type { IncomingMessage } from "node:http";
import { incomingMessage } from "./transport.ts";
import type { TurnSource } from "./turn.ts";

const DRAIN_MS = 2_000;

/** Takes one piece of bytes off the wire. */
export type OnBytes = (chunk: Uint8Array) => void;

/**
 * Reads a Node.js message as it is pulled: bytes that arrive while somebody waits are taken at once, others are held,
 * one piece at most, and stop the message until they are wanted.
 */
class IncomingSource implements TurnSource {
  readonly #incoming: IncomingMessage;
  readonly #onBytes: OnBytes;
  readonly #onEnd: () => void;
  readonly #held: Buffer[] = [];
  #settle: { resolve: (more: boolean) => void; reject: (error: unknown) => void } | undefined;

  constructor(incoming: IncomingMessage, onBytes: OnBytes, onEnd: () => void) {
    this.#incoming = incoming;
    this.#onBytes = onBytes;
    this.#onEnd = onEnd;
    incoming.on("data", this.#arrived).on("end", this.#over).on("close", this.#over).on("error", this.#over);
  }

  readonly #arrived = (chunk: Buffer): void => {
    if (this.#settle === undefined) {
      this.#held.push(chunk);
      this.#incoming.pause();
      return;
    }
    const { resolve, reject } = this.#settle;
    this.#settle = undefined;
    try {
      this.#onBytes(chunk);
      resolve(true);
    } catch (error) {
      reject(error);
    }
  };

  readonly #over = (): void => {
    const settle = this.#settle;
    if (settle === undefined) return;
    try {
      if (this.#ended()) {
        this.#settle = undefined;
        settle.resolve(false);
      }
    } catch (error) {
      this.#settle = undefined;
      settle.reject(error);
    }
  };

  /** @throws what broke the connection. */
  #ended(): boolean {
    const incoming = this.#incoming;
    if (incoming.errored !== null) throw incoming.errored;
    if (incoming.readableEnded) {
      this.#onEnd();
      return true;
    }
    return incoming.destroyed;
  }

  pull(): boolean | Promise<boolean> {
    const chunk = this.#held.shift();
    if (chunk !== undefined) {
      this.#onBytes(chunk);
      return true;
    }
    if (this.#ended()) return false;
    if (this.#incoming.isPaused()) this.#incoming.resume();
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  close(finished: boolean): void {
    const incoming = this.#incoming;
    if (finished) {
      incoming.off("data", this.#arrived);
      incoming.resume();
      if (!incoming.complete) cutLater(incoming);
    } else {
      incoming.destroy();
    }
  }
}

/** After a finished turn only the body's end is missing; a server that does not send it is not waited for. */
function cutLater(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.destroy(), DRAIN_MS).unref();
  incoming.once("close", () => clearTimeout(timer));
}

/** Reads on without looking until the end, or cuts. */
export function drain(next: () => Promise<boolean>, cut: () => void): void {
  const timer = setTimeout(cut, DRAIN_MS).unref();
  const step = (): void => {
    next().then(
      (more) => (more ? step() : clearTimeout(timer)),
      () => clearTimeout(timer),
    );
  };
  step();
}

/** As `responseSource`, for a message that never became a response. */
export function incomingSource(incoming: IncomingMessage, onBytes: OnBytes, onEnd: () => void): TurnSource {
  return new IncomingSource(incoming, onBytes, onEnd);
}

/**
 * The bytes of a response, read as they are asked for.
 *
 * @param onEnd called when the body ended as the server meant it to (not when it was cut).
 */
export function responseSource(
  response: Response,
  onBytes: OnBytes,
  onEnd: () => void = () => {},
): TurnSource {
  const incoming = incomingMessage(response);
  if (incoming !== undefined) return incomingSource(incoming, onBytes, onEnd);
  const reader = response.body?.getReader();
  const cut = (): void => void reader?.cancel().catch(() => {});
  return {
    async pull() {
      const result = await reader?.read();
      if (result === undefined || result.done) {
        onEnd();
        return false;
      }
      onBytes(result.value);
      return true;
    },
    close(finished) {
      if (finished && reader !== undefined) drain(async () => !(await reader.read()).done, cut);
      else cut();
    },
  };
}

/** An SDK's own async stream, one piece at a time. */
export function iterableSource<T>(stream: AsyncIterable<T>, onPiece: (piece: T) => void): TurnSource {
  const iterator = stream[Symbol.asyncIterator]();
  let closed = false;
  const cut = (): void => void iterator.return?.().then(undefined, () => {});
  return {
    async pull() {
      const result = await iterator.next();
      if (result.done === true) return false;
      if (!closed) onPiece(result.value);
      return true;
    },
    close(finished) {
      if (closed) return;
      closed = true;
      if (finished) drain(async () => (await iterator.next()).done !== true, cut);
      else cut();
    },
  };
}
