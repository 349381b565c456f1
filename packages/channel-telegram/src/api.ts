import { AsyncLocalStorage } from "node:async_hooks";
import { type ChannelContext, ChannelError, deadline, missingPackage } from "@signalbox/channel";
import type { GrammyError, HttpError, InputFile, RawApi } from "grammy/web";
import type { TelegramConfig } from "./config.ts";
import { refused, unanswered } from "./errors.ts";
import { limits } from "./limits.ts";

/** What a call is, for errors and limits. */
interface CallOptions {
  /** For people, for instance `sending a message`. */
  readonly what: string;
  /** It changes something at the platform. */
  readonly write: boolean;
  readonly signal: AbortSignal;
  /** Default 15 s. */
  readonly timeoutMs?: number;
}

/** The Bot API over grammY, which is loaded at the first call. */
export interface TelegramApi {
  /** @throws ChannelError for every answer but a success */
  call<T>(options: CallOptions, run: (api: RawApi) => Promise<T>): Promise<T>;
  /** Bytes to be sent under a name. */
  file(content: Uint8Array, name: string): Promise<InputFile>;
  /** A file that `getFile` has told the path of. */
  download(path: string, signal: AbortSignal): Promise<Response>;
}

let loading: Promise<typeof import("grammy/web")> | undefined;

/** The build for pages has the platform's own `fetch` and signals, and no dependency; it is the same library. */
function library(): Promise<typeof import("grammy/web")> {
  loading ??= withoutPageStorage(() => import("grammy/web")).catch((error: unknown) => {
    loading = undefined;
    throw missingPackage(error, "grammy") ?? error;
  });
  return loading;
}

/** As it is loaded, that build looks for the storage of pages, of which Node.js would warn whoever reads its log. */
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

/** The signal of the call that is under way: the library's declarations know another kind than Node's. */
const callSignal = new AsyncLocalStorage<AbortSignal>();

export function createApi({
  config,
  fetch,
}: Pick<ChannelContext<TelegramConfig>, "config" | "fetch">): TelegramApi {
  let opening:
    | Promise<{ readonly raw: RawApi; explain(error: unknown, options: CallOptions): ChannelError }>
    | undefined;

  const fetchUnderSignal: typeof globalThis.fetch = (url, init) =>
    fetch(url, { ...init, signal: callSignal.getStore() ?? null });

  async function open() {
    const { Api, GrammyError, HttpError } = await library();
    const { raw } = new Api(config.botToken, {
      apiRoot: config.apiBaseUrl,
      fetch: fetchUnderSignal,
    });
    const explain = (error: unknown, { what, write }: CallOptions): ChannelError => {
      if (error instanceof GrammyError) return refused(refusalOf(error), what, write);
      return unanswered(error instanceof HttpError ? causeOf(error) : error, what, write);
    };
    return { raw, explain };
  }

  return {
    async call(options, run) {
      const { what, signal, timeoutMs = limits.requestTimeoutMs } = options;
      if (signal.aborted)
        throw new ChannelError("transient", `Telegram: ${what}: given up before it was tried`);
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
      const what = "fetching a file";
      const address = `${config.apiBaseUrl}/file/bot${config.botToken}/${path.split("/").map(encodeURIComponent).join("/")}`;
      let response: Response;
      try {
        // The token is in the address: whoever it led to could read it.
        response = await fetch(address, { redirect: "manual", signal });
      } catch (error) {
        throw unanswered(error, what, false);
      }
      if (response.ok) return response;
      await response.body?.cancel();
      // Here, a page that does not exist is a file that is gone.
      if (response.status === 404) throw new ChannelError("not_found", `Telegram: ${what}: it is gone`);
      throw refused({ code: response.status, description: response.statusText }, what, false);
    },
  };
}

function refusalOf({ error_code, description, parameters }: GrammyError) {
  const { retry_after: retryAfterSeconds, migrate_to_chat_id: migratedTo } = parameters;
  return { code: error_code, description, retryAfterSeconds, migratedTo };
}

function causeOf({ error }: HttpError): unknown {
  return error;
}
