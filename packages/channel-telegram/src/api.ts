import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ChannelContext,
  ChannelError,
  createMissingPackageError,
  deadline,
  limitResponse,
  parsePayload,
} from "@signalbox/channel";
import type { GrammyError, HttpError, InputFile, RawApi } from "grammy/web";
import type { TelegramConfig } from "./config.ts";
import { ForeignAnswerError, toNoAnswerError, toRefusalError } from "./errors.ts";
import { limits } from "./limits.ts";

/** Describes a call for error messages and time limits. */
interface CallOptions {
  /** Describes the call in error messages, for instance `sending a message`. */
  readonly what: string;
  /**
   * True if a repeated call would have another effect, for instance a second message. A missing response then leaves
   * the outcome unknown. Edits, deletions and reactions can be repeated.
   */
  readonly write: boolean;
  readonly signal: AbortSignal;
  /** Time limit in milliseconds. Default: 15 s. */
  readonly timeoutMs?: number;
}

/** The Bot API through grammY, which is loaded on the first call. */
export interface TelegramApi {
  /** @throws ChannelError for every response other than success */
  call<T>(options: CallOptions, run: (api: RawApi) => Promise<T>): Promise<T>;
  /** Wraps bytes as an upload with a file name. */
  file(content: Uint8Array, name: string): Promise<InputFile>;
  /** Downloads a file by the path that `getFile` returned. */
  download(path: string, signal: AbortSignal): Promise<Response>;
}

let loading: Promise<typeof import("grammy/web")> | undefined;

/** Loads grammY's web build. It uses the global `fetch` and `AbortSignal` and has no dependencies. */
function library(): Promise<typeof import("grammy/web")> {
  loading ??= withoutPageStorage(() => import("grammy/web")).catch((error: unknown) => {
    loading = undefined;
    throw createMissingPackageError(error, "grammy") ?? error;
  });
  return loading;
}

/** Hides `localStorage` during the import, because the web build reads it and Node.js would print a warning. */
async function withoutPageStorage<T>(load: () => Promise<T>): Promise<T> {
  const storage = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  if (storage?.configurable !== true) return load();
  Object.defineProperty(globalThis, "localStorage", { configurable: true, value: undefined });
  try {
    return await load();
  } finally {
    Object.defineProperty(globalThis, "localStorage", storage);
  }
}

/** Signal of the current call. grammY's declarations use an `AbortSignal` type that differs from Node's. */
const callSignal = new AsyncLocalStorage<AbortSignal>();

export function createApi({
  config,
  fetch,
}: Pick<ChannelContext<TelegramConfig>, "config" | "fetch">): TelegramApi {
  let opening:
    | Promise<{ readonly raw: RawApi; explain(error: unknown, options: CallOptions): ChannelError }>
    | undefined;

  const fetchUnderSignal: typeof globalThis.fetch = async (url, init) =>
    throwUnlessTelegrams(limitResponse(await fetch(url, { ...init, signal: callSignal.getStore() ?? null })));

  async function open() {
    const { Api, GrammyError, HttpError } = await library();
    const { raw } = new Api(config.botToken, {
      apiRoot: config.apiBaseUrl,
      fetch: fetchUnderSignal,
    });
    const explain = (error: unknown, { what, write }: CallOptions): ChannelError => {
      if (error instanceof GrammyError) return toRefusalError(readRefusal(error), what, write);
      return toNoAnswerError(error instanceof HttpError ? readCause(error) : error, what, write);
    };
    return { raw, explain };
  }

  return {
    async call(options, run) {
      const { what, signal, timeoutMs = limits.requestTimeoutMs } = options;
      if (signal.aborted)
        throw new ChannelError("transient", `Telegram: ${what}: aborted before the request was sent`);
      opening ??= open();
      const { raw, explain } = await opening.catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      const limit = deadline(timeoutMs, signal);
      try {
        return await callSignal.run(limit.signal, () => run(raw));
      } catch (error) {
        throw explain(error, options);
      } finally {
        limit.end();
      }
    },

    async file(content, name) {
      const { InputFile } = await library();
      return new InputFile(content, name);
    },

    async download(path, signal) {
      const what = "downloading a file";
      const address = `${config.apiBaseUrl}/file/bot${config.botToken}/${path.split("/").map(encodeURIComponent).join("/")}`;
      let response: Response;
      try {
        // The URL contains the token, which the target of a redirect could read.
        response = await fetch(address, { redirect: "manual", signal });
      } catch (error) {
        throw toNoAnswerError(error, what, false);
      }
      if (response.ok) return response;
      await response.body?.cancel();
      // For a file, 404 means that it no longer exists.
      if (response.status === 404)
        throw new ChannelError("not_found", `Telegram: ${what}: the file no longer exists`);
      throw toRefusalError({ code: response.status, description: response.statusText }, what, false);
    },
  };
}

/**
 * Returns an equal response.
 *
 * @throws ForeignAnswerError if another server answered, such as a proxy
 */
async function throwUnlessTelegrams(response: Response): Promise<Response> {
  const text = await response.text();
  const body = parsePayload(text);
  const isTelegrams =
    typeof body?.["ok"] === "boolean" && (body["ok"] || typeof body["error_code"] === "number");
  if (!isTelegrams) throw new ForeignAnswerError(response);
  const { status, statusText } = response;
  return new Response(text, { status, statusText });
}

function readRefusal({ error_code, description, parameters }: GrammyError) {
  const { retry_after: retryAfterSeconds, migrate_to_chat_id: migratedTo } = parameters;
  return { code: error_code, description, retryAfterSeconds, migratedTo };
}

function readCause({ error }: HttpError): unknown {
  return error;
}
