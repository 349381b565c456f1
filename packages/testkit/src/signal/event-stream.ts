import type { ServerResponse } from "node:http";
import type { Raw } from "../raw.ts";

interface Event {
  readonly id: number;
  readonly data: string;
}

interface Listener {
  readonly response: ServerResponse;
  write(text: string): Promise<boolean>;
}

export interface EventStreamOptions {
  /**
   * True if the daemon was started with `--receive-mode=on-connection`: messages wait on Signal's servers until a
   * client listens. Otherwise they are lost while nobody listens.
   */
  readonly onConnection: boolean;
  /** True if events have ids and the daemon repeats those that a client has missed. */
  readonly numbered: boolean;
  /** True if the headers of the stream arrive only with the first event, as before 0.14.4. */
  readonly lateHeaders: boolean;
}

/** The stream of received messages. */
export class SignalEventStream {
  readonly #options: EventStreamOptions;
  readonly #listeners = new Set<Listener>();
  readonly #buffer: Event[] = [];
  /** Messages that wait on Signal's servers. */
  readonly #waiting: string[] = [];
  #id = 0;
  /** Number of messages that were lost because nobody listened. */
  lost = 0;
  /** Number of streams that were opened. */
  opened = 0;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  listen(response: ServerResponse, lastEventId: string | undefined): void {
    this.opened += 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (!this.#options.lateHeaders) response.flushHeaders();
    const listener: Listener = {
      response,
      write: (text) => new Promise((resolve) => response.write(text, (error) => resolve(!error))),
    };
    this.#listeners.add(listener);
    response.on("close", () => this.#listeners.delete(listener));
    if (this.#options.numbered && lastEventId !== undefined)
      for (const event of this.#buffer) if (event.id > Number(lastEventId)) void this.#write(listener, event);
    for (const data of this.#waiting.splice(0)) void this.#deliver(data);
  }

  /** Delivers a message. Returns whether a client was listening. */
  async push(payload: Raw): Promise<boolean> {
    const data = JSON.stringify(payload);
    if (this.#listeners.size > 0) return this.#deliver(data);
    if (this.#options.onConnection) this.#waiting.push(data);
    else if (this.#options.numbered) this.#buffer.push({ id: ++this.#id, data });
    else this.lost += 1;
    return false;
  }

  /** Writes a keep-alive, as the daemon does every 15 seconds. */
  keepAlive(): void {
    for (const { write } of this.#listeners) void write(":\n");
  }

  /** Writes text that is not an event. */
  writeRaw(text: string): void {
    for (const { write } of this.#listeners) void write(text);
  }

  /** Ends all streams. */
  end(): void {
    for (const { response } of this.#listeners) response.destroy();
    this.#listeners.clear();
  }

  async #deliver(data: string): Promise<boolean> {
    this.#id += 1;
    const event = { id: this.#id, data };
    if (this.#options.numbered) this.#buffer.push(event);
    const written = await Promise.all([...this.#listeners].map((listener) => this.#write(listener, event)));
    return written.includes(true);
  }

  #write({ write }: Listener, { id, data }: Event): Promise<boolean> {
    const numbered = this.#options.numbered ? `id:${id}\n` : "";
    return write(`${numbered}event:receive\ndata:${data}\n\n`);
  }
}
