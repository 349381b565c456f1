import { ChannelError } from "../src/index.ts";
import { type EchoDefinition, echo } from "./echo.ts";
import { type EchoServer, servers } from "./echo-server.ts";

const lifetimeMs = 20_000;

/** In which ways previews are not as the channel says. */
export interface Previews {
  readonly livesMs: number;
  readonly staysAfterAbort: boolean;
  readonly ignoresProlong: boolean;
}

/** The tests' channel on a platform that shows what is written for a while, and makes no message of it. */
export function previewing(wrong: Partial<Previews> = {}): EchoDefinition {
  return {
    ...echo,
    capabilities: { ...echo.capabilities, preview: { lifetimeMs, prolong: true } },
    async create(context) {
      const channel = await echo.create(context);
      const server = servers.get(context.config.server);
      if (server === undefined) throw new ChannelError("auth", "no such server");
      return { ...channel, openDraft: async () => openPreview(server, wrong) };
    },
  };
}

function openPreview(server: EchoServer, wrong: Partial<Previews>) {
  const { livesMs = lifetimeMs, staysAfterAbort = false, ignoresProlong = false } = wrong;
  let until = server.passedMs + livesMs;
  let isOver = false;
  return {
    messageId: undefined,
    async update(text: string) {
      if (isOver) return;
      if (server.passedMs >= until) throw new ChannelError("not_found", "it is gone");
      server.drafted.push(text);
    },
    async prolong() {
      if (!ignoresProlong) until = server.passedMs + livesMs;
    },
    finalize: () => Promise.reject(new ChannelError("unsupported", "it is no message")),
    async abort() {
      isOver = !staysAfterAbort;
    },
  };
}
