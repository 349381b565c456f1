import { createHash } from "node:crypto";
import { type JsonObject, reasonOf, type ToolContext, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { type Connection, connect, ServerFailedError, SessionLostError } from "./connection.ts";
import type { ToolDescription, ToolList } from "./definitions.ts";
import { SignInNeededError, type TokenSource } from "./sign-in/token-source.ts";
import type { McpDescriptionStore, McpServerSettings, McpServerStatus } from "./types.ts";

export interface ServerOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly version: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly descriptions: McpDescriptionStore;
  /** The tokens of a sign-in at a server over HTTP. */
  readonly tokens?: TokenSource;
  readonly onDown: (reason: string) => void;
  readonly onLog: (text: string) => void;
}

/** A tool, and whether its description differs from the accepted one. */
export interface ListedTool extends ToolDescription {
  readonly changed: boolean;
}

const START_MS = 30_000;
const CALL_MS = 60_000;
/** Delay after the first failure in milliseconds. It doubles with each further failure. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 60_000;
/** Milliseconds after which a running server is considered recovered. */
const STEADY_MS = 60_000;

const hashesSchema = z.record(z.string(), z.string());

/**
 * A server over its lifetime. It is started when its tools are first needed and restarted with a backoff after a
 * failure. Its tools are listed again when it reports that they have changed.
 */
export class McpServer {
  readonly #options: ServerOptions;
  readonly #closing = new AbortController();
  readonly #calls = new Set<Promise<unknown>>();
  #connecting: Promise<Connection> | undefined;
  #connection: Connection | undefined;
  #listing: Promise<void> | undefined;
  /** The latest list. Agents see its tools even while the server is down. */
  #list: ToolList | undefined;
  #isListStale = true;
  #loggedNotes = new Set<string>();
  /** The hashes of the accepted descriptions by the tools' names. */
  #accepted: Readonly<Record<string, string>> | undefined;
  #failures = 0;
  #connectedAt = 0;
  #notBefore = 0;
  #problem: string | undefined;
  #needsSignIn = false;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get settings(): McpServerSettings {
    return this.#options.settings;
  }

  get status(): McpServerStatus {
    const { tools = [], notes = [] } = this.#list ?? {};
    const isUsed = this.#list !== undefined || this.#problem !== undefined;
    return {
      name: this.#options.name,
      transport: "url" in this.#options.settings ? "http" : "stdio",
      state: this.#connection ? "ready" : this.#connecting ? "starting" : isUsed ? "down" : "not started",
      tools: tools.map(({ name }) => name),
      needsSignIn: this.#needsSignIn,
      notes: [...(this.#problem === undefined ? [] : [this.#problem]), ...notes],
    };
  }

  /** Returns the latest tools, or none if the server was never up. Takes at most as long as a start may take. */
  async tools(): Promise<readonly ListedTool[]> {
    await this.#refresh().catch(() => {});
    const tools = this.#list?.tools ?? [];
    // Another process may have accepted changed descriptions in the meantime.
    if (tools.some((tool) => this.#isChanged(tool))) await this.#loadAccepted().catch(() => {});
    return tools.map((tool) => ({ ...tool, changed: this.#isChanged(tool) }));
  }

  /** Accepts the descriptions with these hashes. Later runs treat them as reviewed. */
  async accept(hashes: ReadonlySet<string>): Promise<void> {
    await this.#loadAccepted();
    const added = (this.#list?.tools ?? []).filter(({ hash }) => hashes.has(hash));
    this.#accepted = { ...this.#accepted, ...toHashes(added) };
    await this.#options.descriptions.set(this.#storeKey(), this.#accepted);
  }

  /** Calls a tool as it was described to the caller. Fails if the server now describes it differently. */
  call(tool: ToolDescription, args: JsonObject, context: ToolContext): Promise<ToolResult> {
    const called = this.#call(tool, args, context).finally(() => this.#calls.delete(called));
    this.#calls.add(called);
    return called;
  }

  async #call(
    tool: ToolDescription,
    args: JsonObject,
    context: ToolContext,
    isRetry = false,
  ): Promise<ToolResult> {
    const connection = await this.#getConnection();
    await this.#refresh();
    if (this.#list?.tools.some(({ hash }) => hash === tool.hash) !== true)
      throw new Error(`${tool.name} has changed since this run began. Do without it in this run.`);
    context.signal.throwIfAborted();
    try {
      return await connection.call(tool, args, context, this.#options.settings.callMs ?? CALL_MS);
    } catch (error) {
      if (error instanceof SessionLostError || error instanceof ServerFailedError) this.#abandon(connection);
      if (isRetry || !(error instanceof SessionLostError)) throw error;
      return this.#call(tool, args, context, true);
    }
  }

  /** Abandons a connection although the server is up. The next request opens a new one without a pause. */
  #abandon(connection: Connection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#isListStale = true;
    connection.close().catch(() => {});
  }

  /** Connects again at the next request, without a pause, because a person signed in or out. */
  reconnect(): void {
    this.#options.tokens?.reset();
    this.#notBefore = 0;
    this.#failures = 0;
    if (this.#connection !== undefined) this.#abandon(this.#connection);
  }

  /** Closes the server after its pending calls, because it was removed from the configuration. Never rejects. */
  async retire(): Promise<void> {
    await Promise.allSettled(this.#calls);
    const reason = new Error(`The configuration of the MCP server ${this.#options.name} has changed.`);
    await this.close(reason).catch(() => {});
  }

  async close(reason: Error = new Error("The gateway is stopping.")): Promise<void> {
    this.#closing.abort(reason);
    await this.#connecting?.catch(() => {});
    await this.#connection?.close();
  }

  /** Lists the tools if the list is stale. Concurrent callers wait for the same request. */
  async #refresh(): Promise<void> {
    if (this.#isListStale)
      this.#listing ??= this.#readList().finally(() => {
        this.#listing = undefined;
      });
    await this.#listing;
  }

  async #readList(isRetry = false): Promise<void> {
    const connection = await this.#getConnection();
    try {
      // A change during the request makes the list stale again.
      this.#isListStale = false;
      this.#list = await connection.list(AbortSignal.any([this.#closing.signal, this.#createStartLimit()]));
    } catch (error) {
      this.#isListStale = true;
      if (error instanceof SessionLostError && !isRetry) {
        this.#abandon(connection);
        return this.#readList(true);
      }
      // A server that completes the handshake but does not list its tools is considered down.
      this.#setDown(connection, error);
      await connection.close().catch(() => {});
      throw error;
    }
    for (const note of this.#list.notes) {
      if (!this.#loggedNotes.has(note)) this.#options.onLog(note);
      this.#loggedNotes.add(note);
    }
    if (this.#accepted === undefined) await this.#loadAccepted();
  }

  #isChanged({ name, hash }: ToolDescription): boolean {
    return (
      this.#accepted === undefined || !Object.hasOwn(this.#accepted, name) || this.#accepted[name] !== hash
    );
  }

  /**
   * Loads the accepted descriptions. The first descriptions of a server with these settings are accepted automatically.
   */
  async #loadAccepted(): Promise<void> {
    const { descriptions } = this.#options;
    const stored = await descriptions.get(this.#storeKey());
    if (stored !== undefined) {
      // If the stored value is damaged, nothing counts as accepted.
      this.#accepted = hashesSchema.safeParse(stored).data ?? {};
      return;
    }
    this.#accepted = toHashes(this.#list?.tools ?? []);
    await descriptions.set(this.#storeKey(), this.#accepted);
  }

  /** A key for the server with these settings. It ignores environment variables and headers, which contain secrets. */
  #storeKey(): string {
    const { name, settings } = this.#options;
    const identity = getIdentity(settings);
    const hash = createHash("sha256").update(JSON.stringify(identity));
    return `${name} ${hash.digest("hex").slice(0, 32)}`;
  }

  async #getConnection(): Promise<Connection> {
    this.#closing.signal.throwIfAborted();
    if (this.#connection !== undefined) return this.#connection;
    if (this.#connecting !== undefined) return this.#connecting;
    const { name, now } = this.#options;
    const pauseMs = this.#notBefore - now();
    if (pauseMs > 0)
      throw new Error(
        `The MCP server ${name} is down (${this.#problem ?? "it ended"}). It will be restarted in ${Math.ceil(pauseMs / 1000)} s.`,
      );
    this.#connecting = this.#connect().finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  async #connect(): Promise<Connection> {
    const { name, settings, version, now, tokens, onLog } = this.#options;
    let isOpen = true;
    let own: Connection | undefined;
    try {
      const connection = await connect({
        name,
        settings,
        version,
        tokens,
        onLog,
        signal: AbortSignal.any([this.#closing.signal, this.#createStartLimit()]),
        timeoutMs: settings.startMs ?? START_MS,
        onListChanged: () => {
          this.#isListStale = true;
        },
        onClose: () => {
          isOpen = false;
          if (own !== undefined) this.#setDown(own, "it ended");
        },
      });
      if (!isOpen) throw new Error("it ended right after its start");
      own = connection;
      this.#connection = connection;
      this.#connectedAt = now();
      this.#problem = undefined;
      this.#needsSignIn = false;
      this.#isListStale = true;
      return connection;
    } catch (error) {
      this.#addFailure(error);
      throw error;
    }
  }

  #setDown(connection: Connection, reason: unknown): void {
    if (this.#connection !== connection) return;
    if (this.#options.now() - this.#connectedAt >= STEADY_MS) this.#failures = 0;
    this.#connection = undefined;
    this.#isListStale = true;
    this.#addFailure(reason);
  }

  #addFailure(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.#problem = reasonOf(error).slice(0, 300);
    this.#needsSignIn = error instanceof SignInNeededError;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, MAX_PAUSE_MS);
    this.#failures += 1;
    this.#notBefore = this.#options.now() + pauseMs;
    this.#options.onDown(this.#problem);
  }

  #createStartLimit(): AbortSignal {
    return AbortSignal.timeout(this.#options.settings.startMs ?? START_MS);
  }
}

function getIdentity(settings: McpServerSettings): readonly unknown[] {
  if ("url" in settings) return [settings.url];
  return "start" in settings ? [] : [settings.command, settings.args ?? [], settings.cwd ?? ""];
}

function toHashes(tools: readonly ToolDescription[]): Record<string, string> {
  return Object.fromEntries(tools.map(({ name, hash }) => [name, hash]));
}
