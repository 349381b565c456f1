import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayProcess, startProcess } from "./gateway-process.ts";

const STARTS = 5;
/** By then everything is loaded, and what that needed for the moment is given back. */
const IDLE_MS = 8_000;

/** One of two gateways that are compared. */
export interface Side {
  readonly home: string;
  /** How many accounts of channels it has besides its own. */
  readonly accounts: number;
}

/** What starts of a gateway took, and what it held at idle. */
export interface Figures {
  readonly readyMs: readonly number[];
  readonly idleMb: readonly number[];
}

/** Starts both by turns, so that whatever else the machine does meets both. */
export async function sideBySide(
  port: number,
  ours: Side,
  floor: Side,
): Promise<{ readonly ours: Figures; readonly floor: Figures }> {
  const figures = { ours: empty(), floor: empty() };
  for (let round = 0; round <= STARTS; round++) {
    // The first start fills the disk cache and the compile cache.
    await measure(ours, port, round > 0 ? figures.ours : empty());
    await measure(floor, port, round > 0 ? figures.floor : empty());
  }
  return figures;
}

function empty(): { readonly readyMs: number[]; readonly idleMb: number[] } {
  return { readyMs: [], idleMb: [] };
}

async function measure(
  { home, accounts }: Side,
  port: number,
  into: { readonly readyMs: number[]; readonly idleMb: number[] },
): Promise<void> {
  const gateway = await startProcess(home, port);
  await sleep(IDLE_MS);
  await expectReady(gateway, accounts);
  into.readyMs.push(gateway.readyMs);
  into.idleMb.push(gateway.rss() / 1e6);
  await gateway.stop();
}

/** An account that could not start costs nothing, and would be measured as cheap. */
async function expectReady({ url, token }: GatewayProcess, accounts: number): Promise<void> {
  const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  const { channels } = (await answer.json()) as { channels: readonly { state: string }[] };
  const ready = channels.filter(({ state }) => state === "ready").length;
  if (ready < accounts) throw new Error(`${ready} of ${accounts} accounts: ${JSON.stringify(channels)}`);
}
