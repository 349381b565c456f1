import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type GatewayProcess, startProcess } from "./gateway-process.ts";
import { now, row, spread } from "./report.ts";
import { type Setup, setUp } from "./setup.ts";
import { CompletionsSurface, FeishuSurface, type Surface } from "./surfaces.ts";

const ROUNDS = 7;
const IDLE_MS = 8_000;
const SESSIONS = 32;
const MESSAGES = 40;
/** What a build may take at most, in percent of what the earlier one does. */
const MOST = 110;

/** What one build takes, in one round; of each figure less is better. */
type Figures = ReadonlyMap<string, number>;

/** A build that runs, and what it has taken so far. */
interface Running {
  readonly setup: Setup;
  readonly gateway: GatewayProcess;
  readonly completions: Surface;
  readonly feishu: Surface;
  readonly figures: Map<string, number>;
}

/**
 * This build beside an earlier one, in another checkout of the repository that is built, too. Both run in every round,
 * each first in every other one, and take their messages by turns, so that whatever else the machine does meets both.
 */
export async function besideEarlier(checkout: string): Promise<void> {
  const earlier = join(checkout, "apps", "gateway", "dist", "signalbox.js");
  if (!isAbsolute(earlier) || !existsSync(earlier))
    throw new Error(`Name a checkout that is built by its whole path: there is no ${earlier}.`);
  const pairs: { readonly ours: Figures; readonly theirs: Figures }[] = [];
  // The first round fills the disk cache and the compile cache.
  for (let round = 0; round <= ROUNDS; round++) {
    const isOursFirst = round % 2 === 0;
    const [first, second] = await measure(isOursFirst ? [undefined, earlier] : [earlier, undefined]);
    if (round > 0)
      pairs.push(isOursFirst ? { ours: first, theirs: second } : { ours: second, theirs: first });
  }
  for (const name of pairs[0]?.ours.keys() ?? []) {
    const of = (side: "ours" | "theirs"): number[] => pairs.map((pair) => pair[side].get(name) ?? Number.NaN);
    const theirs = of("theirs");
    row({ name, ours: spread(of("ours")), floor: { name: "the earlier build", value: spread(theirs) } });
    const shares = of("ours").map((figure, index) => (100 * figure) / (theirs[index] ?? Number.NaN));
    row({
      name: "  round by round, % of the earlier build",
      ours: spread(shares),
      marks: [{ atMost: MOST }],
    });
  }
}

/** Both builds, in the order in which they are started. */
async function measure(
  mains: readonly [string | undefined, string | undefined],
): Promise<readonly [Figures, Figures]> {
  const first = await start(mains[0]);
  try {
    const second = await start(mains[1]);
    try {
      await overheads([first, second], ({ completions }) => completions);
      await overheads([first, second], ({ feishu }) => feishu);
      for (const running of [first, second]) await load(running);
    } finally {
      await stop(second);
    }
    return [first.figures, second.figures];
  } finally {
    await stop(first);
  }
}

/** Starts a build and leaves it alone for a while. */
async function start(main: string | undefined): Promise<Running> {
  const setup = await setUp();
  const gateway = await startProcess(setup.home, setup.port, main);
  await sleep(IDLE_MS);
  return {
    setup,
    gateway,
    completions: new CompletionsSurface(gateway),
    feishu: new FeishuSurface(gateway, setup.feishu, setup.verificationToken),
    figures: new Map([
      ["process start to /readyz, ms", gateway.readyMs],
      ["resident memory at idle, MB", gateway.rss() / 1e6],
    ]),
  };
}

async function stop({ gateway, setup }: Running): Promise<void> {
  await gateway.stop();
  await setup.stop();
}

/** What each adds to a message before and after the model, at the median. They take their messages by turns. */
async function overheads(both: readonly Running[], surfaceOf: (running: Running) => Surface): Promise<void> {
  const sides = both.map((running) => ({ running, surface: surfaceOf(running), added: [] as number[] }));
  for (let peer = 0; peer < 20; peer++)
    for (let n = 0; n < 12; n++)
      for (const { running, surface, added } of n % 2 === 0 ? sides : sides.toReversed()) {
        const one = await overhead(running.setup.model, surface, peer, n);
        if (peer > 4) added.push(one);
      }
  for (const { running, surface, added } of sides)
    running.figures.set(`${surface.name}, beside the model, ms`, spread(added).median);
}

async function overhead(
  { turns }: Setup["model"],
  surface: Surface,
  peer: number,
  n: number,
): Promise<number> {
  const { length } = turns;
  const { sentAt, repliedAt } = await surface.exchange(`o${peer}`, `o${surface.name.length}-${peer}-${n}`);
  const turn = turns[length];
  if (turn === undefined) throw new Error("the model was not asked");
  return turn.seenAt - sentAt + repliedAt - turn.answeredAt;
}

/** Many sessions at once, by Feishu. */
async function load({ gateway, feishu, figures }: Running): Promise<void> {
  const talk = async (session: number): Promise<void> => {
    for (let n = 0; n < MESSAGES; n++) await feishu.exchange(`l${session}`, `l${session}-${n}`);
  };
  const cpu = gateway.cpuMs();
  const started = now();
  await Promise.all(Array.from({ length: SESSIONS }, (_, session) => talk(session)));
  figures.set(`a message of ${SESSIONS} sessions, ms`, (now() - started) / (SESSIONS * MESSAGES));
  figures.set("  CPU of it, ms", (gateway.cpuMs() - cpu) / (SESSIONS * MESSAGES));
  figures.set("  resident memory then, MB", gateway.rss() / 1e6);
}
