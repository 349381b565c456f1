import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AuthOptions,
  createAuth,
  type GatewayService,
  type HttpServer,
  type Logger,
  type SignInEvent,
  startServer,
} from "../src/index.ts";
import { openAccess } from "./open-access.ts";

export const TOKEN = "a-token-of-the-tests-0123456789";

const NO_PAGE = join(tmpdir(), "signalbox-without-a-page");
const quiet = (): void => {};

/** Starts a server for one test. Returns it with its access store and its refused requests. */
export async function openServer(
  service: GatewayService,
  {
    port = 0,
    pageDir = NO_PAGE,
    now = Date.now,
    store,
    settings,
    publicUrl,
    logger = { debug: quiet, warn: quiet, error: quiet },
  }: {
    port?: number;
    pageDir?: string;
    now?: () => number;
    /** A store that several servers share. */
    store?: Awaited<ReturnType<typeof openAccess>>;
    settings?: AuthOptions["settings"];
    publicUrl?: () => string;
    logger?: Logger;
  } = {},
) {
  const { access, kv } = store ?? (await openAccess());
  const signIns: SignInEvent[] = [];
  const auth = createAuth({
    token: TOKEN,
    store: access,
    kv,
    now,
    publicUrl: publicUrl ?? (() => server.url),
    logger,
    ...(settings === undefined ? {} : { settings }),
    onSignIn: (event) => signIns.push(event),
  });
  const refused: string[] = [];
  const server: HttpServer = await startServer({
    host: "127.0.0.1",
    port,
    allowedHosts: () => [],
    service,
    auth,
    hooks: () => ({
      hooks: { build: { text: "The build {{state}}", secret: "the-secret-of-the-hook" } },
      defaultAgent: "second",
    }),
    pageDir,
    now,
    logger,
    onRefused: (entryPoint, status) => refused.push(`${entryPoint} ${status}`),
  });
  onTestFinished(() => server.stop(0));
  return { ...server, access, refused, auth, signIns };
}
