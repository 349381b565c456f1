import { type Client, signInAddress } from "@signalbox/client";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** `signalbox link`: prints a URL that signs in a browser. The URL can be used once and expires after a short time. */
export async function link(options: CommonOptions): Promise<void> {
  const { client, running } = await runningGateway(options.home);
  const made = await makeLink(client, running.url);
  print(options.json, made, () => [describeLink(made)]);
}

interface Link {
  readonly link: string;
  /** Time in milliseconds since the epoch. */
  readonly expiresAt: number;
}

export async function makeLink(client: Client, url: string): Promise<Link> {
  const { secret, expiresAt } = await client.signInLink();
  return { link: signInAddress(url, secret), expiresAt };
}

export function describeLink({ link, expiresAt }: Link): string {
  const minutes = Math.round((expiresAt - Date.now()) / 60_000);
  return `Sign in (works once, within ${minutes} minutes):\n${link}`;
}
