import type { ChildProcess } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { getCancelledId, getRequestId, normalizeText, type RequestId } from "./messages.ts";
import type { McpServerSettings } from "./types.ts";

type StdioSettings = Exclude<McpServerSettings, { url: string }>;

export interface StdioTransportOptions {
  readonly settings: StdioSettings;
  /** Maximum size of a message. A longer one is discarded, and its request fails. */
  readonly maxMessageBytes: number;
  /** Called with the process's output on standard error. */
  readonly onStderr: (text: string) => void;
}

/** Time limit for a process to end after its input was closed, and again after SIGTERM, in milliseconds. */
const END_MS = 2_000;
/** Number of characters at the start and at the end of a response that are searched for its id. */
const ID_CHARS = 300;
const NEWLINE = 10;

/**
 * Communicates with a server process over its standard input and output. Unlike the SDK's transport, it normalizes
 * messages before they are validated, and an oversized message fails only its request instead of the whole connection.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioTransportOptions;
  #process: ChildProcess | undefined;
  #parse: ((text: string) => JSONRPCMessage) | undefined;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isDiscarding = false;
  /** The requests without a response. */
  readonly #pending = new Set<RequestId>();

  constructor(options: StdioTransportOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { deserializeMessage } = await import("@modelcontextprotocol/sdk/shared/stdio.js");
    this.#parse = deserializeMessage;
    const { settings } = this.#options;
    const child = "start" in settings ? await settings.start() : await spawnServer(settings);
    const fail = (error: Error): void => this.onerror?.(error);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once("spawn", resolve).once("error", reject).on("error", fail);
    // The process may have started, or even ended, before its starter returned it.
    if (child.exitCode !== null || child.signalCode !== null)
      reject(new Error("the server process has ended"));
    else if (child.pid !== undefined) resolve();
    child.once("close", () => {
      this.#process = undefined;
      this.onclose?.();
    });
    child.stdin?.on("error", fail);
    child.stdout?.on("error", fail).on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr
      ?.on("error", fail)
      .on("data", (chunk: Buffer) => this.#options.onStderr(chunk.toString("utf8")));
    await promise;
    this.#process = child;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const input = this.#process?.stdin;
    if (!input?.writable) throw new Error("the server process has ended");
    const id = getRequestId(message);
    if (id !== undefined) this.#pending.add(id);
    const cancelled = getCancelledId(message);
    if (cancelled !== undefined) this.#pending.delete(cancelled);
    if (input.write(`${JSON.stringify(message)}\n`)) return;
    await new Promise<void>((resolve) => input.once("drain", resolve).once("close", resolve));
  }

  /** Closes the input of the process, and kills it if it does not end on its own. */
  async close(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    child.stdin?.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await Promise.race([closed, setTimeout(END_MS, undefined, { ref: false })]);
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill(signal);
    }
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#add(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#add(chunk.subarray(from));
  }

  #add(part: Buffer): void {
    if (this.#isDiscarding || part.length === 0) return;
    this.#parts.push(part);
    this.#bytes += part.length;
    if (this.#bytes <= this.#options.maxMessageBytes) return;
    const id = findId(Buffer.concat(this.#parts));
    this.#clear();
    this.#isDiscarding = true;
    const error = {
      code: -32_000,
      message: `the server sent more than ${this.#options.maxMessageBytes} bytes`,
    };
    if (id === undefined) this.onerror?.(new Error(error.message));
    else this.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts).toString("utf8").trim();
    this.#clear();
    if (this.#isDiscarding || line === "") {
      this.#isDiscarding = false;
      return;
    }
    try {
      const [only, ...others] = this.#pending;
      for (const text of splitBatch(normalizeText(line, others.length === 0 ? only : undefined))) {
        const message = this.#parse?.(text);
        if (message === undefined) continue;
        if (!("method" in message) && message.id !== undefined) this.#pending.delete(message.id);
        this.onmessage?.(message);
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #clear(): void {
    this.#parts = [];
    this.#bytes = 0;
  }
}

async function spawnServer({
  command,
  args = [],
  env = {},
  cwd,
}: Extract<StdioSettings, { command: string }>): Promise<ChildProcess> {
  const [{ default: spawn }, { getDefaultEnvironment }] = await Promise.all([
    import("cross-spawn"),
    import("@modelcontextprotocol/sdk/client/stdio.js"),
  ]);
  return spawn(command, [...args], {
    // `PATH`, `HOME`, `USER` and the like. Nothing else of this process's environment.
    env: { ...getDefaultEnvironment(), ...env },
    stdio: ["pipe", "pipe", "pipe"],
    windowsHide: true,
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Returns the messages of a line. The specification of 2025-03-26 allowed several in a list. */
function splitBatch(text: string): readonly string[] {
  if (!text.startsWith("[")) return [text];
  const messages: unknown = JSON.parse(text);
  return Array.isArray(messages) ? messages.map((message) => JSON.stringify(message)) : [text];
}

/** Returns the id of an incomplete response. */
function findId(start: Buffer): number | undefined {
  const head = start.subarray(0, ID_CHARS).toString("latin1");
  const id = /^\s*\{(?:\s*"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d+)/.exec(head)?.[1];
  return id === undefined ? undefined : Number(id);
}
