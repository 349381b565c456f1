import type { JsonObject, ToolContext, ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { readToolList, type ToolList } from "./definitions.ts";
import { readResult } from "./result.ts";
import { openTransport } from "./transport.ts";
import type { McpServerSettings } from "./types.ts";

/** A server that was shaken hands with. */
export interface Connection {
  /** Asks for its tools, page after page. */
  list(signal: AbortSignal): Promise<ToolList>;
  call(ownName: string, args: JsonObject, context: ToolContext, timeoutMs: number): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly name: string;
  readonly settings: McpServerSettings;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The server says that its tools are others now. */
  readonly onListChanged: () => void;
  readonly onClose: () => void;
  readonly onLog: (text: string) => void;
}

/** The server knows the session no more, as after a restart of its own: it has called nothing. */
export class SessionOverError extends Error {
  override readonly name = "SessionOverError";

  constructor() {
    super("the server does not know the session any more");
  }
}

/** Pages of a list. A server that always has another one is not asked for ever. */
const MAX_PAGES = 20;

/** Of what a process writes beside its messages, or in their place, and how often. */
const MAX_LOG_CHARS = 2_000;
const MAX_LOGGED = 100;

/** One tool that is not as it should be must not cost the others: each is read by itself. */
const listSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

/**
 * Starts a server, or reaches it, and shakes hands. This side offers nothing of its own: no sampling, no questions to
 * people, no folders.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { name, settings, signal, timeoutMs, onClose } = options;
  const onLog = bounded(options.onLog);
  // Loaded with the first server: half a megabyte that most gateways never need.
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { CallToolResultSchema, ToolListChangedNotificationSchema } = await import(
    "@modelcontextprotocol/sdk/types.js"
  );
  const client = new Client({ name: "signalbox", version: options.version });
  client.onclose = onClose;
  client.onerror = (error) => onLog(error.message);
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => options.onListChanged());
  const { transport, endSession } = await openTransport(settings, onLog);
  const close = async (): Promise<void> => {
    // What goes wrong with it by now concerns nobody.
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
  return {
    close,

    // Not by `client.listTools`, which compiles a validator, patterns and all, of every schema that the server sends.
    async list(listSignal) {
      const tools: unknown[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const params = cursor === undefined ? {} : { cursor };
        const answer = await client.request({ method: "tools/list", params }, listSchema, {
          signal: listSignal,
          timeout: timeoutMs,
        });
        tools.push(...answer.tools);
        cursor = answer.nextCursor;
        if (cursor === undefined) break;
      }
      const list = readToolList(name, tools);
      if (cursor === undefined) return list;
      return { ...list, notes: [`only the first ${MAX_PAGES} pages of its tools are used`, ...list.notes] };
    },

    async call(ownName, args, context, callMs) {
      const request = { method: "tools/call", params: { name: ownName, arguments: { ...args } } };
      const answer = await client
        .request(request, z.unknown(), {
          signal: context.signal,
          timeout: callMs,
          onprogress: ({ message, progress, total }) => {
            const text = message ?? `${progress}${total === undefined ? "" : ` of ${total}`}`;
            context.update({ content: [{ type: "text", text: text.slice(0, 2_000) }] });
          },
        })
        .catch(async (error: unknown) => {
          throw (await isSessionOver(error, settings)) ? new SessionOverError() : error;
        });
      const read = CallToolResultSchema.safeParse(answer);
      // What is wrong with it could be told at any length.
      if (!read.success) throw new Error("what the server answered cannot be read");
      return readResult(read.data, context.resultChars);
    },
  };
}

/** What a server writes without end must not fill the log. */
function bounded(onLog: (text: string) => void): (text: string) => void {
  let logged = 0;
  return (text) => {
    if (logged++ < MAX_LOGGED) onLog(text.slice(0, MAX_LOG_CHARS));
  };
}

/** By the specification the status is 404; many servers answer with 400 and say that the session is not valid. */
async function isSessionOver(error: unknown, settings: McpServerSettings): Promise<boolean> {
  if (!("url" in settings)) return false;
  const { StreamableHTTPError } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  if (!(error instanceof StreamableHTTPError)) return false;
  return error.code === 404 || (error.code === 400 && /session/i.test(error.message));
}
