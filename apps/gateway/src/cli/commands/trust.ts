import type { TrustResult } from "@signalbox/client";
import { GatewayError, withDatabase } from "@signalbox/home";
import { openAgentFiles } from "@signalbox/tools";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { getAgent } from "../home-agents.ts";
import { print } from "../output.ts";
import { isHeld, runningGateway } from "../running.ts";

type TrustOptions = CommonOptions & { readonly agent?: string };

interface Reviewed {
  readonly path: string;
  readonly digest?: string;
}

/**
 * `signalbox trust <path> [digest]`: shows content from other people. If the digest of the displayed content is given,
 * the content is then trusted like the owner's.
 */
export async function trust(path: string, digest: string | undefined, options: TrustOptions): Promise<void> {
  const reviewed = { path, digest };
  const result = isHeld(options.home)
    ? await throughGateway(reviewed, options)
    : await withoutGateway(reviewed, options);
  if (result.ok) {
    const trusted = `${result.path} is now trusted as if you had written it.`;
    return print(options.json, { path: result.path, trusted: true }, () => [trusted]);
  }
  const { message, review } = result;
  if (review === undefined || digest !== undefined) throw new GatewayError("failure", message);
  print(options.json, { path, trusted: false, ...review }, () => [
    message,
    "",
    review.content,
    "",
    getConfirmation(path, review.digest, options),
  ]);
}

function getConfirmation(path: string, digest: string, { agent }: TrustOptions): string {
  const quoted = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
  return `signalbox trust ${quoted} ${digest}${agent === undefined ? "" : ` --agent ${agent}`}`;
}

async function throughGateway(reviewed: Reviewed, { home, agent }: TrustOptions): Promise<TrustResult> {
  const { client } = await runningGateway(home);
  return client.trust({ ...reviewed, agent });
}

/** Without a running gateway, no other process caches the labels. */
function withoutGateway(reviewed: Reviewed, options: TrustOptions): Promise<TrustResult> {
  const configured = configuredHome(options);
  const agent = getAgent(configured, options.agent);
  const { home } = configured;
  return withDatabase(home, "share", async ({ kv, audit }) => {
    const { trust } = await openAgentFiles(kv, home.closed);
    const result = await trust(agent, reviewed);
    if (result.ok)
      await audit.append({
        at: Date.now(),
        kind: "approval",
        action: "trusted",
        actor: "command line",
        subject: `file: ${result.path}`,
        details: { agent: agent.id },
      });
    return result;
  });
}
