import type { TrustAnswer } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";
import { isHeld, runningGateway } from "../running.ts";

type TrustOptions = CommonOptions & { readonly agent?: string };

/** `signalbox trust <path>`: what others wrote counts as the owner's from now on. */
export async function trust(path: string, options: TrustOptions, host: GatewayHost): Promise<void> {
  const trusted = isHeld(options.home)
    ? await throughGateway(path, options)
    : await withoutGateway(path, options, host);
  if (!trusted.ok) throw new GatewayError("failure", trusted.message);
  print(options.json, { path: trusted.path }, () => [`${trusted.path} counts as yours from now on.`]);
}

async function throughGateway(path: string, { home, agent }: TrustOptions): Promise<TrustAnswer> {
  const { client } = await runningGateway(home);
  return client.trust({ path, ...(agent === undefined ? {} : { agent }) });
}

function withoutGateway(path: string, options: TrustOptions, host: GatewayHost): Promise<TrustAnswer> {
  const configured = configuredHome(options);
  const { ids, defaultId } = host.agents(configured);
  const id = options.agent ?? defaultId;
  if (!ids.includes(id)) throw new GatewayError("failure", `There is no agent ${id}.`);
  return host.trust(configured, id, path);
}
