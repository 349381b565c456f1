import { AsyncLocalStorage } from "node:async_hooks";
import {
  type ChannelContext,
  ChannelError,
  deadline,
  isPayload,
  limitResponse,
  objectsAt,
  type Payload,
  parseRetryAfter,
  textAt,
} from "@signalbox/channel";
import type { webApi } from "@slack/bolt";
import { apiBase, type SlackConfig } from "./config.ts";
import { toChannelError } from "./errors.ts";
import { limits } from "./limits.ts";
import { loadBolt } from "./sdk.ts";

interface CallOptions {
  /** Describes the call in error messages, for instance `sending a message`. */
  readonly what: string;
  /** True if the call has visible effects. */
  readonly write: boolean;
  readonly signal: AbortSignal;
}

/** A file to upload to a conversation. */
interface FileToShare {
  readonly channel: string;
  readonly thread: string | undefined;
  readonly name: string;
  readonly bytes: Buffer;
}

/** The SDK's Web API client, loaded on the first call. */
export interface SlackApi {
  /** @throws ChannelError for every response other than success */
  call(method: string, args: Readonly<Record<string, unknown>>, options: CallOptions): Promise<Payload>;
  /**
   * Uploads a file and returns its id.
   *
   * @throws ChannelError
   */
  shareFile(file: FileToShare, signal: AbortSignal): Promise<string>;
}

type Logger = NonNullable<webApi.WebClientOptions["logger"]>;

/** Creates a logger that drops everything: errors are thrown anyway, and the SDK's log lines contain message texts. */
export function quietLogger(level: ReturnType<Logger["getLevel"]>): Logger {
  const say = (): void => {};
  return { debug: say, info: say, warn: say, error: say, setLevel: say, setName: say, getLevel: () => level };
}

/** The current call. The SDK has no parameter for an abort signal. */
interface Call {
  readonly signal: AbortSignal;
  /** URL of the last request. */
  asked: string;
}

export function createApi(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch">,
): SlackApi {
  const { config } = context;
  const calls = new AsyncLocalStorage<Call>();
  let client: webApi.WebClient | undefined;

  function open(): webApi.WebClient {
    const { webApi, LogLevel } = loadBolt();
    return new webApi.WebClient(config.botToken, {
      slackApiUrl: apiBase(config),
      fetch: createFetch(context, () => calls.getStore()),
      // The host handles rate limits and retries.
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      maxRequestConcurrency: Number.POSITIVE_INFINITY,
      logger: quietLogger(LogLevel.ERROR),
    });
  }

  async function run<T>(
    { what, signal }: Omit<CallOptions, "write">,
    mayBeDone: (asked: string) => boolean,
    work: (client: webApi.WebClient) => Promise<T>,
  ): Promise<T> {
    if (signal.aborted)
      throw new ChannelError("transient", `Slack: ${what}: aborted before the request was sent`);
    const call: Call = { signal, asked: "" };
    try {
      return await calls.run(call, () => {
        client ??= open();
        return work(client);
      });
    } catch (error) {
      throw toChannelError(error, what, mayBeDone(call.asked));
    }
  }

  return {
    async call(method, args, options) {
      const answer: unknown = await run(
        options,
        () => options.write,
        (web) => web.apiCall(method, args),
      );
      return isPayload(answer) ? answer : {};
    },

    async shareFile({ channel, thread, name, bytes }, signal) {
      const share = { channel_id: channel, filename: name, title: name, file: bytes };
      const answer: unknown = await run(
        { what: "sending a file", signal },
        // A file becomes visible only with the last of the three requests.
        (asked) => asked.endsWith("files.completeUploadExternal"),
        (web) => web.filesUploadV2(thread === undefined ? share : { ...share, thread_ts: thread }),
      );
      const [job] = isPayload(answer) ? objectsAt(answer, "files") : [];
      const [file] = job === undefined ? [] : objectsAt(job, "files");
      const id = file === undefined ? undefined : textAt(file, "id");
      if (id !== undefined) return id;
      throw new ChannelError("unknown_outcome", "Slack: sending a file: the response contains no file id");
    },
  };
}

/** Wraps the host's `fetch` to use the call's signal and a time limit for the complete response. */
export function createFetch(
  { fetch, clock }: Pick<ChannelContext, "fetch" | "clock">,
  currentCall: () => Call | undefined,
): typeof globalThis.fetch {
  return async (input, init) => {
    const call = currentCall();
    if (call !== undefined) call.asked = String(input);
    const isUpload = init?.body instanceof FormData;
    const limit = deadline(isUpload ? limits.uploadTimeoutMs : limits.requestTimeoutMs, call?.signal);
    try {
      const response = limitResponse(await fetch(input, { ...init, signal: limit.signal }));
      const body = await response.arrayBuffer();
      const headers = new Headers(response.headers);
      // The body is already decoded.
      for (const name of ["content-encoding", "content-length"]) headers.delete(name);
      // The SDK does not handle a 429 response whose `Retry-After` is missing or a date.
      if (response.status === 429) {
        const waitMs = parseRetryAfter(headers.get("retry-after"), clock.now()) ?? limits.rateWaitMs;
        headers.set("retry-after", String(Math.ceil(waitMs / 1_000)));
      }
      const { status, statusText } = response;
      return new Response(body.byteLength === 0 ? null : body, { status, statusText, headers });
    } finally {
      limit.end();
    }
  };
}
