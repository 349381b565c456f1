import { ChannelError } from "@signalbox/channel";
import { limits } from "../limits.ts";

/** An event of the stream. */
export interface StreamEvent {
  /** Newer versions of signal-cli number events. */
  readonly id?: string | undefined;
  readonly data: string;
}

/** Parses server-sent events. Source: the HTML standard, "Interpreting an event stream". */
export class EventStreamParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #data: string[] = [];
  #length = 0;
  #id: string | undefined;

  /** @throws ChannelError `transient` if an event is too long */
  push(chunk: Uint8Array): readonly StreamEvent[] {
    const lines = (this.#rest + this.#decoder.decode(chunk, { stream: true })).split(/\r\n|\n/);
    this.#rest = lines.pop() ?? "";
    const events = lines.flatMap((line) => this.#readLine(line) ?? []);
    if (this.#rest.length + this.#length > limits.eventLength)
      throw new ChannelError("transient", "Signal: the daemon sent an event that is too long");
    return events;
  }

  #readLine(line: string): StreamEvent | undefined {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.#id = value;
    if (field !== "data") return undefined;
    this.#data.push(value);
    this.#length += value.length;
    return undefined;
  }

  #end(): StreamEvent | undefined {
    const data = this.#data.join("\n");
    this.#data = [];
    this.#length = 0;
    return data === "" ? undefined : { id: this.#id, data };
  }
}
