import { type JsonObject, reasonOf, type ToolContext, type ToolResult } from "@signalbox/agent-core";
import { type Connection, connect, SessionOverError } from "./connection.ts";
import type { ToolDescription, ToolList } from "./definitions.ts";
import type { McpServerSettings, McpServerStatus } from "./types.ts";

export interface ServerOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onDown: (reason: string) => void;
  readonly onLog: (text: string) => void;
}

/** A tool, and whether it is as the server first described it. */
export interface ListedTool extends ToolDescription {
  readonly changed: boolean;
}

const START_MS = 30_000;
const CALL_MS = 60_000;
/** After a failure, and twice as long after each further one. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** A server that was up for so long has come to itself. */
const STEADY_MS = 60_000;

/**
 * One server through its life: started when it is first needed, again after it went down, with a pause that grows, and
 * asked for its tools again when it says that they have changed.
 */
export class McpServer {
  readonly #options: ServerOptions;
  readonly #closing = new AbortController();
  #connecting: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #listing: Promise<void> | undefined;
  /** What it gave last; agents see it also while the server is down. */
  #list: ToolList | undefined;
  #isListStale = true;
  /** How each tool was first described, by its name. */
  #first: ReadonlyMap<string, string> | undefined;
  #failures = 0;
  #connectedAt = 0;
  #notBefore = 0;
  #fault: string | undefined;
  readonly #calls = new Set<Promise<unknown>>();

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get settings(): McpServerSettings {
    return this.#options.settings;
  }

  get status(): McpServerStatus {
    const { tools = [], notes = [] } = this.#list ?? {};
    const isUsed = this.#list !== undefined || this.#fault !== undefined;
    return {
      name: this.#options.name,
      state: this.#connection ? "ready" : this.#connecting ? "starting" : isUsed ? "down" : "not started",
      tools: tools.map(({ name }) => name),
      notes: [...(this.#fault === undefined ? [] : [this.#fault]), ...notes],
    };
  }

  /** Its tools as it gave them last; none where it has never come up. Takes no longer than a start may. */
  async tools(): Promise<readonly ListedTool[]> {
    await this.#upToDate().catch(() => {});
    return (this.#list?.tools ?? []).map((tool) => ({
      ...tool,
      changed: this.#first?.get(tool.name) !== tool.hash,
    }));
  }

  /** Calls a tool as it was described to the caller; fails if the server now describes it differently. */
  call(tool: ToolDescription, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    const called = this.#call(tool, args, context).finally(() => this.#calls.delete(called));
    this.#calls.add(called);
    return called;
  }

  async #call(
    tool: ToolDescription,
    args: JsonObject,
    context: ToolContext,
    isAgain = false,
  ): Promise<ToolResult> {
    const connection = await this.#connected();
    await this.#upToDate();
    if (this.#list?.tools.some(({ hash }) => hash === tool.hash) !== true)
      throw new Error(`${tool.name} is not what it was when this run began. Do without it in this run.`);
    context.signal.throwIfAborted();
    try {
      return await connection.call(tool.ownName, args, context, this.#options.settings.callMs ?? CALL_MS);
    } catch (error) {
      if (isAgain || !(error instanceof SessionOverError)) throw error;
      this.#leave(connection);
      return this.#call(tool, args, context, true);
    }
  }

  /** The server goes on, but not with this connection: the next one begins anew, without a pause. */
  #leave(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#isListStale = true;
    connection.close().catch(() => {});
  }

  /** Ends it, since it is not configured any more: what it was asked before has its answer first. Never rejects. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#calls);
    const reason = new Error(`The MCP server ${this.#options.name} is not configured as it was any more.`);
    await this.close(reason).catch(() => {});
  }

  async close(reason: Error = new Error("The gateway stops.")): Promise<void> {
    this.#closing.abort(reason);
    await this.#connecting?.catch(() => {});
    await this.#connection?.close();
  }

  /** Asks for the tools where that is due, once for all who need them just now: until they are there, all wait. */
  async #upToDate(): Promise<void> {
    if (this.#isListStale)
      this.#listing ??= this.#readList().finally(() => {
        this.#listing = undefined;
      });
    await this.#listing;
  }

  async #readList(): Promise<void> {
    const connection = await this.#connected();
    try {
      // What changes meanwhile is asked for the next time.
      this.#isListStale = false;
      this.#list = await connection.list(AbortSignal.any([this.#closing.signal, this.#startLimit()]));
    } catch (error) {
      this.#isListStale = true;
      // One that shakes hands and then says nothing is as good as down; one that ended meanwhile is down already.
      this.#down(connection, error);
      await connection.close().catch(() => {});
      throw error;
    }
    this.#first ??= new Map(this.#list.tools.map(({ name, hash }) => [name, hash]));
  }

  async #connected(): Promise<Connection> {
    this.#closing.signal.throwIfAborted();
    if (this.#connection !== undefined) return this.#connection;
    if (this.#connecting !== undefined) return this.#connecting;
    const { name, now } = this.#options;
    const left = this.#notBefore - now();
    if (left > 0)
      throw new Error(
        `The MCP server ${name} is down (${this.#fault ?? "it ended"}); it is started again in ${Math.ceil(left / 1000)} s.`,
      );
    this.#connecting = this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Connection> {
    const { name, settings, version, now, onLog } = this.#options;
    let isOpen = true;
    let own: Connection | undefined;
    try {
      const connection = await connect({
        name,
        settings,
        version,
        onLog,
        signal: AbortSignal.any([this.#closing.signal, this.#startLimit()]),
        timeoutMs: settings.startMs ?? START_MS,
        onListChanged: () => {
          this.#isListStale = true;
        },
        onClose: () => {
          isOpen = false;
          if (own !== undefined) this.#down(own, "it ended");
        },
      });
      if (!isOpen) throw new Error("it ended right after its start");
      own = connection;
      this.#connection = connection;
      this.#connectedAt = now();
      this.#fault = undefined;
      // Another process may have other tools.
      this.#isListStale = true;
      return connection;
    } catch (error) {
      this.#failed(error);
      throw error;
    }
  }

  /** A connection is of no more use, whoever ended it. */
  #down(connection: Connection, reason: unknown): void {
    if (this.#connection !== connection) return;
    if (this.#options.now() - this.#connectedAt >= STEADY_MS) this.#failures = 0;
    this.#connection = undefined;
    this.#isListStale = true;
    this.#failed(reason);
  }

  #failed(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#fault = reasonOf(error).slice(0, 300);
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures += 1;
    this.#notBefore = this.#options.now() + pauseMs;
    this.#options.onDown(this.#fault);
  }

  #startLimit(): AbortSignal {
    return AbortSignal.timeout(this.#options.settings.startMs ?? START_MS);
  }
}
