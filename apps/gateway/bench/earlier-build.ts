import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startProcess } from "./gateway-process.ts";
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

/**
 * This build beside an earlier one, in another checkout of the repository that is built, too. Both are measured in
 * every round, each first in every other one, so that whatever else the machine does meets both.
 */
export async function besideEarlier(checkout: string): Promise<void> {
  const earlier = join(checkout, "apps", "gateway", "dist", "signalbox.js");
  if (!isAbsolute(earlier) || !existsSync(earlier))
    throw new Error(`Name a checkout that is built by its whole path: there is no ${earlier}.`);
  const pairs: { readonly ours: Figures; readonly theirs: Figures }[] = [];
  // The first round fills the disk cache and the compile cache.
  for (let round = 0; round <= ROUNDS; round++) {
    const isOursFirst = round % 2 === 0;
    const first = await measure(isOursFirst ? undefined : earlier);
    const second = await measure(isOursFirst ? earlier : undefined);
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

async function measure(main: string | undefined): Promise<Figures> {
  const setup = await setUp();
  try {
    const gateway = await startProcess(setup.home, setup.port, main);
    try {
      await sleep(IDLE_MS);
      const idleMb = gateway.rss() / 1e6;
      const feishu = new FeishuSurface(gateway, setup.feishu, setup.verificationToken);
      const completions = new CompletionsSurface(gateway);
      const figures = new Map([
        ["process start to /readyz, ms", gateway.readyMs],
        ["resident memory at idle, MB", idleMb],
        [`${completions.name}, beside the model, ms`, await overhead(setup, completions)],
        [`${feishu.name}, beside the model, ms`, await overhead(setup, feishu)],
      ]);
      const cpu = gateway.cpuMs();
      const started = now();
      await load(feishu);
      figures.set(`a message of ${SESSIONS} sessions, ms`, (now() - started) / (SESSIONS * MESSAGES));
      figures.set("  CPU of it, ms", (gateway.cpuMs() - cpu) / (SESSIONS * MESSAGES));
      figures.set("  resident memory then, MB", gateway.rss() / 1e6);
      return figures;
    } finally {
      await gateway.stop();
    }
  } finally {
    await setup.stop();
  }
}

/** What the gateway adds to a message before and after the model, at the median. */
async function overhead({ model }: Setup, surface: Surface): Promise<number> {
  const added: number[] = [];
  for (let peer = 0; peer < 20; peer++)
    for (let n = 0; n < 12; n++) {
      const { length } = model.turns;
      const { sentAt, repliedAt } = await surface.exchange(
        `o${peer}`,
        `o${surface.name.length}-${peer}-${n}`,
      );
      const turn = model.turns[length];
      if (turn === undefined) throw new Error("the model was not asked");
      if (peer > 4) added.push(turn.seenAt - sentAt + repliedAt - turn.answeredAt);
    }
  return spread(added).median;
}

async function load(surface: Surface): Promise<void> {
  const talk = async (session: number): Promise<void> => {
    for (let n = 0; n < MESSAGES; n++) await surface.exchange(`l${session}`, `l${session}-${n}`);
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, session) => talk(session)));
}
