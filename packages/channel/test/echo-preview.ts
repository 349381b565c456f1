import { ChannelError } from "../src/index.ts";
import { type EchoDefinition, echo } from "./echo.ts";
import { type EchoServer, servers } from "./echo-server.ts";

const LIFETIME_MS = 20_000;

/** Faults of previews. */
export interface Previews {
  readonly lifetimeMs: number;
  readonly staysAfterAbort: boolean;
  readonly ignoresProlong: boolean;
}

/** The echo channel on a platform whose drafts are previews, optionally with faults. */
export function previewing(wrong: Partial<Previews> = {}): EchoDefinition {
  return {
    ...echo,
    capabilities: { ...echo.capabilities, preview: { lifetimeMs: LIFETIME_MS, prolong: true } },
    async create(context) {
      const channel = await echo.create(context);
      const server = servers.get(context.config.server);
      if (server === undefined) throw new ChannelError("auth", "no such server");
      return { ...channel, openDraft: async () => openPreview(server, wrong) };
    },
  };
}

function openPreview(server: EchoServer, wrong: Partial<Previews>) {
  const { lifetimeMs = LIFETIME_MS, staysAfterAbort = false, ignoresProlong = false } = wrong;
  let until = server.passedMs + lifetimeMs;
  let isOver = false;
  return {
    messageId: undefined,
    async update(text: string) {
      if (isOver) return;
      if (server.passedMs >= until) throw new ChannelError("not_found", "the preview has expired");
      server.drafted.push(text);
    },
    async prolong() {
      if (!ignoresProlong) until = server.passedMs + lifetimeMs;
    },
    finalize: () => Promise.reject(new ChannelError("unsupported", "a preview is not a message")),
    async abort() {
      isOver = !staysAfterAbort;
    },
  };
}
