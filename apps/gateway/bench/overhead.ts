import { now, row, type Spread, spread } from "./report.ts";
import type { Setup } from "./setup.ts";
import type { Surface } from "./surfaces.ts";

/**
 * Messages of history, and over how many conversations so many messages are measured that it hardly grows meanwhile:
 * 480 in all, so that the 99th percentile is not the word of one or two.
 */
const LEVELS = [
  { history: 10, peers: 120, each: 4 },
  { history: 50, peers: 30, each: 16 },
  { history: 200, peers: 12, each: 40 },
  { history: 1_000, peers: 6, each: 80 },
] as const;
const WARM = 40;
/** How much longer the overhead may be at the longest history than at the shortest. */
const GROWTH = 2;

/** What the gateway adds before and after the model, on one way in, at several lengths of history. */
export async function measureOverhead(setup: Setup, surface: Surface): Promise<void> {
  for (let i = 0; i < WARM; i++) await surface.exchange("warm", `warm-${surface.name.length}-${i}`);
  const floor = await floors(setup);
  const medians = new Map<number, { readonly inbound: number; readonly outbound: number }>();
  for (const { history, peers, each } of LEVELS) {
    const inbound: number[] = [];
    const outbound: number[] = [];
    for (let peer = 0; peer < peers; peer++) {
      const name = `h${history}p${peer}`;
      const id = (n: number): string => `${name}-${surface.name.length}-${n}`;
      for (let i = 0; i < history / 2; i++) await surface.exchange(name, id(i));
      for (let i = 0; i < each; i++) {
        const before = setup.model.turns.length;
        const { sentAt, repliedAt } = await surface.exchange(name, id(history + i));
        const turn = setup.model.turns[before];
        if (turn === undefined || turn.messages < history)
          throw new Error(`the model saw ${turn?.messages ?? 0} messages instead of ${history} and more`);
        inbound.push(turn.seenAt - sentAt);
        outbound.push(repliedAt - turn.answeredAt);
      }
    }
    tell(surface, history, "inbound", spread(inbound), floor.inbound, "raw SDK");
    tell(surface, history, "outbound", spread(outbound), floor.outbound, "bare fetch");
    medians.set(history, { inbound: spread(inbound).median, outbound: spread(outbound).median });
  }
  const first = medians.get(LEVELS[0].history);
  const last = medians.get(LEVELS[3].history);
  if (first === undefined || last === undefined) return;
  for (const way of ["inbound", "outbound"] as const) {
    const growth = last[way] / first[way];
    row({
      name: `${surface.name} ${way}, 1,000 over 10 messages`,
      ours: { min: growth, median: growth, p99: growth, count: 1 },
      marks: [{ atMost: GROWTH }],
    });
  }
}

function tell(
  surface: Surface,
  history: number,
  way: "inbound" | "outbound",
  ours: Spread,
  value: Spread,
  name: string,
): void {
  row({
    name: `${surface.name} ${way}, ${history} messages, ms`,
    ours,
    floor: { name, value },
    marks: [{ atMost: 5 }, { atMost: 15, of: "p99" }],
  });
}

async function floors({
  rawTurn,
  feishu,
}: Setup): Promise<{ readonly inbound: Spread; readonly outbound: Spread }> {
  const inbound: number[] = [];
  const outbound: number[] = [];
  for (let i = 0; i < 230; i++) {
    const { calledAt, seenAt } = await rawTurn();
    const startedAt = now();
    await (await fetch(`${feishu.url}/bench`, { method: "POST", body: "{}" })).arrayBuffer();
    if (i < 30) continue;
    inbound.push(seenAt - calledAt);
    outbound.push((feishu.requests.at(-1)?.at ?? Number.NaN) - startedAt);
  }
  return { inbound: spread(inbound), outbound: spread(outbound) };
}
