import type { JsonObject, ToolContext, ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import {
  type ContentCapabilities,
  listContentTools,
  readContent,
  toContentRequest,
} from "./content-tools.ts";
import { readToolList, type ToolDescription, type ToolList } from "./definitions.ts";
import { readResult } from "./result.ts";
import type { TokenSource } from "./sign-in/token-source.ts";
import { openTransport } from "./transport.ts";
import type { McpServerSettings } from "./types.ts";

/** A connection to a server after the handshake. */
export interface Connection {
  /**
   * Lists the server's tools, page by page.
   *
   * @throws SessionLostError
   */
  list(signal: AbortSignal): Promise<ToolList>;
  /** @throws SessionLostError if the server did not execute the call */
  call(tool: ToolDescription, args: JsonObject, context: ToolContext, timeoutMs: number): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly version: string;
  readonly tokens: TokenSource | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called when the server reports that its list of tools has changed. */
  readonly onListChanged: () => void;
  readonly onClose: () => void;
  readonly onLog: (text: string) => void;
}

/** The server no longer recognizes the session, probably because it restarted. The request was not executed. */
export class SessionLostError extends Error {
  override readonly name = "SessionLostError";

  constructor(options?: ErrorOptions) {
    super("the server no longer recognizes the session", options);
  }
}

/** The server failed, perhaps after it executed the call. The next request needs a new session. */
export class ServerFailedError extends Error {
  override readonly name = "ServerFailedError";
}

/** Maximum number of pages, for servers whose list never ends. */
const MAX_PAGES = 20;
/** Factor by which a call may exceed its time limit as long as the server reports progress. */
const MAX_PROGRESS_FACTOR = 10;
const MAX_LOG_CHARS = 2_000;
/** Maximum number of lines that a connection logs. */
const MAX_LOG_LINES = 100;

/** Each tool is parsed separately, so that a malformed one does not affect the others. */
const listSchema = z.looseObject({
  tools: z.array(z.unknown()).optional(),
  nextCursor: z.unknown().optional(),
});

/**
 * Starts or connects to a server and performs the handshake. The client offers neither sampling, elicitation nor roots.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { name, settings, signal, timeoutMs, onClose } = options;
  const onLog = limitLog(options.onLog);
  // Loaded with the first server, because most gateways never need this half megabyte.
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { ToolListChangedNotificationSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "signalbox", version: options.version });
  client.onclose = onClose;
  client.onerror = (error) => onLog(error.message);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onListChanged());
  const { transport, endSession } = await openTransport(settings, onLog, options.tokens);
  const close = async (): Promise<void> => {
    client.onerror = () => {};
    await endSession();
    await client.close();
  };
  try {
    await client.connect(transport, { signal, timeout: timeoutMs });
  } catch (error) {
    await close();
    throw error;
  }
  const rethrow = async (error: unknown): Promise<never> => {
    throw (await toSessionError(error, settings)) ?? error;
  };
  return {
    close,

    // `client.listTools` would compile a validator, including regular expressions, for every schema of the server.
    async list(listSignal) {
      const capabilities: ContentCapabilities = client.getServerCapabilities() ?? {};
      const content = listContentTools(name, capabilities);
      // Many servers with tools do not state the capability, so only one that states another is not asked.
      if (content.length > 0 && capabilities.tools === undefined) return { tools: content, notes: [] };
      const tools: unknown[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const how = { signal: listSignal, timeout: timeoutMs };
        const answer = await client.request({ method: "tools/list", params }, listSchema, how).catch(rethrow);
        tools.push(...(answer.tools ?? []));
        const { nextCursor } = answer;
        cursor = typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined;
        if (cursor === undefined) break;
      }
      const list = readToolList(name, tools, content);
      if (cursor === undefined) return list;
      return { ...list, notes: [`only the first ${MAX_PAGES} pages of its tools are used`, ...list.notes] };
    },

    async call({ ownName, content }, args, context, callMs) {
      const request =
        content === undefined
          ? { method: "tools/call", params: { name: ownName, arguments: { ...args } } }
          : toContentRequest(content, args);
      const answer = await client
        .request(request, z.unknown(), {
          signal: context.signal,
          timeout: callMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: callMs * MAX_PROGRESS_FACTOR,
          onprogress: ({ message, progress, total }) => {
            const text = message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`;
            context.update({ content: [{ type: "text", text: text.slice(0, 2_000) }] });
          },
        })
        .catch(rethrow);
      return readResult(content === undefined ? answer : readContent(content, answer), context.resultChars);
    },
  };
}

function limitLog(onLog: (text: string) => void): (text: string) => void {
  let lines = 0;
  return (text) => {
    if (lines++ < MAX_LOG_LINES) onLog(text.slice(0, MAX_LOG_CHARS));
  };
}

/** JSON-RPC codes that servers use for lost sessions. */
const SESSION_CODES = new Set([-32_000, -32_001, -32_002, -32_600]);
const SESSION_LOST =
  /session.{0,60}\b(?:not found|not exist|unknown|invalid|expired|terminated|closed|lost|missing|required)|(?:no|unknown|invalid|expired|missing|bad)\b.{0,20}session/is;
/** Servers that restore the id of a session, but not its handshake, ask for the handshake instead. */
const NOT_INITIALIZED =
  /not (?:been |yet )?initiali[sz]ed|before initiali[sz]|(?:expect\w*|not an?|must send|missing) (?:an )?initiali[sz]/i;

/**
 * Recognizes a lost session. The specification says status 404. Servers also respond with 400, 410, 500 or 503, or with
 * a JSON-RPC error, and say that the session is not valid.
 *
 * @returns undefined for any other error
 */
async function toSessionError(
  error: unknown,
  settings: McpServerSettings,
): Promise<SessionLostError | ServerFailedError | undefined> {
  if (!("url" in settings) || !(error instanceof Error)) return undefined;
  const [{ StreamableHTTPError }, { McpError }] = await Promise.all([
    import("@modelcontextprotocol/sdk/client/streamableHttp.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const message = error.message.slice(0, 2_000);
  const saysLost = SESSION_LOST.test(message) || NOT_INITIALIZED.test(message);
  const cause = { cause: error };
  if (error instanceof McpError)
    return saysLost && SESSION_CODES.has(error.code) ? new SessionLostError(cause) : undefined;
  if (!(error instanceof StreamableHTTPError)) return undefined;
  const { code = 0 } = error;
  if (saysLost || code === 404 || code === 410 || code === 503) return new SessionLostError(cause);
  return code >= 500 ? new ServerFailedError(error.message, cause) : undefined;
}
