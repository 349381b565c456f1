import type { TrustResult } from "@signalbox/client";
import { GatewayError, withDatabase } from "@signalbox/home";
import { openAgentFiles } from "@signalbox/tools";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { agentOf } from "../home-agents.ts";
import { print } from "../output.ts";
import { isHeld, runningGateway } from "../running.ts";

type TrustOptions = CommonOptions & { readonly agent?: string };

/** `signalbox trust <path>`: what others wrote counts as the owner's from now on. */
export async function trust(path: string, options: TrustOptions): Promise<void> {
  const trusted = isHeld(options.home)
    ? await throughGateway(path, options)
    : await withoutGateway(path, options);
  if (!trusted.ok) throw new GatewayError("failure", trusted.message);
  print(options.json, { path: trusted.path }, () => [
    `${trusted.path} is now trusted as if you had written it.`,
  ]);
}

async function throughGateway(path: string, { home, agent }: TrustOptions): Promise<TrustResult> {
  const { client } = await runningGateway(home);
  return client.trust({ path, ...(agent === undefined ? {} : { agent }) });
}

/** Changes the labels directly; no running gateway has them cached. */
function withoutGateway(path: string, options: TrustOptions): Promise<TrustResult> {
  const configured = configuredHome(options);
  const agent = agentOf(configured, options.agent);
  const { home } = configured;
  return withDatabase(home, "share", async ({ kv, audit }) => {
    const { trust } = await openAgentFiles(kv, home.closed);
    const trusted = await trust(agent, path);
    if (trusted.ok)
      await audit.append({
        at: Date.now(),
        kind: "approval",
        action: "trusted",
        actor: "command line",
        subject: `file: ${trusted.path}`,
        details: { agent: agent.id },
      });
    return trusted;
  });
}
