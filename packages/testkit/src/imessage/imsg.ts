import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Raw } from "../raw.ts";
import { FakeMessages, type FakeMessagesOptions } from "./database.ts";
import { type ImsgFault, ImsgSession } from "./imsg-session.ts";

export type { ImsgFault } from "./imsg-session.ts";

export interface ImsgOptions extends FakeMessagesOptions {
  /** The database. Default: an empty one. */
  readonly messages?: FakeMessages;
  /** True if the bridge runs, which replies and tapbacks need. Default: true. */
  readonly bridge?: boolean;
}

/**
 * A fake imsg. `command` starts a process that speaks its protocol, in the form of `ssh my-mac imsg rpc`, so that files
 * are copied through the same command.
 */
export interface FakeImsg {
  readonly command: readonly [string, ...string[]];
  readonly messages: FakeMessages;
  /** Number of running processes, and of processes with a subscription. */
  running(): { readonly processes: number; readonly subscriptions: number };
  /** Files on the Mac by path. */
  readonly files: Map<string, Uint8Array>;
  /** Scripts that were run on the Mac. */
  readonly scripts: readonly string[];
  /** Responds to downloads of attachments with the bytes of `answer` from now on. */
  answerFiles(answer: () => Response): void;
  fail(fault: ImsgFault): void;
  heal(): void;
  /** Denies Full Disk Access. */
  denyDisk(isDenied: boolean): void;
  /** Denies control of Messages. */
  denyAutomation(isDenied: boolean): void;
  /** Time until sent messages appear in the database, without an id in the response. Default: 0. */
  delayRows(ms: number): void;
  /** Sends a message in imsg's own format to the subscribers. */
  push(message: Raw): void;
  /** Ends all subscriptions, as a full buffer does. */
  overflow(): void;
  /** Ends all processes, as a broken ssh connection does. */
  killAll(): void;
  stop(): Promise<void>;
}

/** Starts the fake. Its processes end with it. */
export async function startImsg(options: ImsgOptions = {}): Promise<FakeImsg> {
  const messages = options.messages ?? new FakeMessages(options);
  const files = new Map<string, Uint8Array>();
  const scripts: string[] = [];
  const sessions = new Map<Socket, ImsgSession>();
  const faults: { fault: ImsgFault; left: number }[] = [];
  const sockets = new Set<Socket>();
  let answer: (() => Response) | undefined;
  let isDiskDenied = false;
  let isAutomationDenied = false;
  let rowDelayMs = 0;

  function takeFault(method: string): ImsgFault | undefined {
    const entry = faults.find(({ fault, left }) => left > 0 && (fault.method ?? "send") === method);
    if (entry !== undefined) entry.left -= 1;
    return entry?.fault;
  }

  function open(socket: Socket, lines: AsyncIterable<string>): void {
    const session = new ImsgSession(
      messages,
      {
        hasBridge: options.bridge ?? true,
        hasDiskAccess: () => !isDiskDenied,
        hasAutomation: () => !isAutomationDenied,
        rowDelayMs: () => rowDelayMs,
        bufferLimit: 256,
        takeFault,
        readFile: (path) => files.get(path),
      },
      { write: (line) => void socket.write(line), end: () => socket.destroy() },
    );
    sessions.set(socket, session);
    socket.on("close", () => {
      session.close();
      sessions.delete(socket);
    });
    void (async () => {
      for await (const line of lines) await session.handle(line);
      socket.end();
    })().catch(() => socket.destroy());
  }

  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    void serve(socket).catch(() => socket.destroy());
  });

  async function serve(socket: Socket): Promise<void> {
    const head = await readHead(socket);
    const command: unknown = JSON.parse(head);
    const words = Array.isArray(command) ? command.map(String) : [];
    if (words.at(-1) === "rpc") return open(socket, createInterface({ input: socket }));
    const script = words.join(" ");
    scripts.push(script);
    await runScript(socket, script);
  }

  async function runScript(socket: Socket, script: string): Promise<void> {
    const input = await readAll(socket);
    const [, path] = /^wc -c < '(.+)' && exec cat /.exec(script) ?? [];
    if (path !== undefined) return sendFile(socket, path.replaceAll("'\\''", "'"));
    const [, name] = /mktemp -d\) && f="\$d"\/'(.+)' && cat/.exec(script) ?? [];
    if (name !== undefined) {
      const created = `/tmp/tmp.${crypto.randomUUID().slice(0, 8)}/${name.replaceAll("'\\''", "'")}`;
      files.set(created, input);
      socket.end(`${created}\n`);
      return;
    }
    const [, quoted] = /^rm -f -- '(.+)' && rmdir/.exec(script) ?? [];
    const removed = quoted?.replaceAll("'\\''", "'");
    if (removed !== undefined) files.delete(removed);
    socket.end();
  }

  async function sendFile(socket: Socket, path: string): Promise<void> {
    const stored = messages.rows
      .flatMap(({ attachments }) => attachments)
      .find(({ guid, name }) => path === `/Users/me/Library/Messages/Attachments/${guid}/${name}`);
    const length = String(stored?.content.byteLength);
    const response =
      answer?.() ??
      (stored && new Response(new Uint8Array(stored.content), { headers: { "content-length": length } }));
    if (response === undefined || !response.ok || response.body === null) return void socket.end();
    socket.write(`${response.headers.get("content-length") ?? "-"}\n`);
    Readable.fromWeb(response.body)
      .on("error", () => socket.destroy())
      .pipe(socket);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const program = fileURLToPath(
    new URL(`./imsg-worker.${import.meta.url.endsWith(".ts") ? "ts" : "js"}`, import.meta.url),
  );

  return {
    command: [process.execPath, program, String(port), "imsg", "rpc"],
    messages,
    running: () => ({
      processes: sessions.size,
      subscriptions: [...sessions.values()].filter(({ subscriptions }) => subscriptions > 0).length,
    }),
    files,
    scripts,
    answerFiles: (given) => {
      answer = given;
    },
    fail: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    heal: () => void faults.splice(0),
    denyDisk: (isDenied) => {
      isDiskDenied = isDenied;
    },
    denyAutomation: (isDenied) => {
      isAutomationDenied = isDenied;
    },
    delayRows: (ms) => {
      rowDelayMs = ms;
    },
    push: (message) => {
      for (const session of sessions.values()) session.push(message);
    },
    overflow: () => {
      for (const session of sessions.values()) session.overflow();
    },
    killAll: () => {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

/** Reads the first line byte by byte, so that nothing after it is consumed. */
async function readHead(socket: Socket): Promise<string> {
  const head: Buffer[] = [];
  for (;;) {
    const byte: Buffer | null = socket.read(1);
    if (byte === null) {
      if (socket.readableEnded) throw new Error("The connection ended before its first line.");
      await new Promise((resolve) => socket.once("readable", resolve));
    } else if (byte[0] === 10) return Buffer.concat(head).toString("utf8");
    else head.push(byte);
  }
}

async function readAll(socket: Socket): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of Readable.from(iterate(socket))) chunks.push(Buffer.from(chunk));
  return new Uint8Array(Buffer.concat(chunks));
}

async function* iterate(socket: Socket): AsyncGenerator<Buffer> {
  while (!socket.readableEnded) {
    const chunk: Buffer | null = socket.read();
    if (chunk !== null) yield chunk;
    else if (!socket.readableEnded)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off("readable", done);
          socket.off("end", done);
          resolve();
        };
        socket.once("readable", done);
        socket.once("end", done);
      });
  }
}
