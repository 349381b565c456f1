// Replays every recorded stream, and those of servers that deviate from OpenAI's API, cut at every byte, and prints
// what became of the runs.
//   node test/every-byte.ts [--below 65536] [--jobs 2] [--only anthropic-messages]
// `--below` cuts at every byte only streams shorter than so many bytes; longer ones are cut around every event and at
// every 997th byte. Without it all of them are cut at every byte, which takes hours: the work grows with the square of
// the length. SIGNALBOX_RECORDINGS names the folder of the recordings.
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Recording } from "@signalbox/testkit/wire";
import { type AnswerSummary, findCutProblem, summarizeAnswer } from "../src/testkit/cut.ts";
import { eventEnds } from "../src/testkit/wire.ts";
import { families } from "./support/families.ts";
import { oddServer, oddStreams } from "./support/odd-streams.ts";
import { recorded, titleOf } from "./support/recordings.ts";
import { accountAt, asker, type Replay } from "./support/replay.ts";

/** A run that takes longer counts as hung. */
const HUNG_MS = 10_000;
const STEP = 997;

interface Counts {
  streams: number;
  /** Streams that were cut at every byte. */
  everyByte: number;
  cuts: number;
  hung: number;
  /** Runs with a readable call that the whole answer does not have. */
  partialCalls: number;
  /** Runs that finished with less than the whole answer. */
  finishedEarly: number;
  /** Runs that broke a guarantee of the event stream, such as a second end. */
  broken: number;
}

const NONE: Counts = {
  streams: 0,
  everyByte: 0,
  cuts: 0,
  hung: 0,
  partialCalls: 0,
  finishedEarly: 0,
  broken: 0,
};

const { values } = parseArgs({
  options: {
    below: { type: "string" },
    jobs: { type: "string" },
    only: { type: "string" },
    shard: { type: "string" },
  },
});
const below = values.below === undefined ? Number.POSITIVE_INFINITY : Number(values.below);
const jobs = values.jobs === undefined ? availableParallelism() : Number(values.jobs);

function cutPoints(bytes: Uint8Array): Iterable<number> {
  if (bytes.length < below) return bytes.keys();
  const points = new Set(eventEnds(bytes).flatMap((end) => [end - 2, end - 1, end]));
  for (let at = 0; at < bytes.length; at += STEP) points.add(at);
  return points;
}

async function cutUp({ account, recording }: Piece, counts: Counts): Promise<void> {
  const bytes = Buffer.from(recording.res);
  const ask = asker(account);
  const whole: AnswerSummary = summarizeAnswer(await ask({ pieces: [bytes] }));
  counts.streams++;
  if (bytes.length < below) counts.everyByte++;
  for (const at of cutPoints(bytes)) {
    counts.cuts++;
    const ending = at % 2 === 0 ? "end" : "break";
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<"hung">((resolve) => {
      timer = setTimeout(() => resolve("hung"), HUNG_MS);
    });
    const run = ask({ pieces: [bytes.subarray(0, at)], ending }).catch((error: unknown) => String(error));
    const told = await Promise.race([run, late]);
    clearTimeout(timer);
    const where = `${titleOf(recording)}, cut at byte ${at} of ${bytes.length} (${ending})`;
    const wrong = typeof told === "string" ? told : findCutProblem(told, whole);
    if (wrong === undefined) continue;
    console.log(`${where}: ${wrong}`);
    if (wrong === "hung") counts.hung++;
    else if (wrong === "partialCall") counts.partialCalls++;
    else if (wrong === "less") counts.finishedEarly++;
    else counts.broken++;
  }
}

interface Piece {
  readonly account: Replay;
  readonly recording: Recording;
}

/** All streams with their accounts, longest first, so that shards are even. */
function work(): Piece[] {
  const pieces = families
    .flatMap((family) =>
      (recorded(family.speaks)?.streams ?? []).map((recording) => ({
        account: accountAt(family, recording.host),
        recording,
      })),
    )
    .concat(oddStreams.map((recording) => ({ account: oddServer, recording })))
    .filter(({ account }) => values.only === undefined || account.provider.api === values.only);
  return pieces.sort((a, b) => b.recording.res.length - a.recording.res.length);
}

function add(to: Counts, counts: Counts): void {
  for (const key of Object.keys(NONE) as (keyof Counts)[]) to[key] += counts[key];
}

if (values.shard !== undefined) {
  const shard = Number(values.shard);
  for (const piece of work().filter((_, at) => at % jobs === shard)) {
    const counts = { ...NONE };
    await cutUp(piece, counts);
    process.send?.({ api: piece.account.provider.api, counts });
  }
  process.disconnect?.();
} else {
  const started = Date.now();
  const byApi = new Map<string, Counts>();
  const total = { ...NONE };
  const failed: number[] = [];
  await Promise.all(
    Array.from({ length: jobs }, async (_, shard) => {
      const args = [...process.argv.slice(2), "--shard", String(shard), "--jobs", String(jobs)];
      const child = fork(fileURLToPath(import.meta.url), args);
      child.on("message", ({ api, counts }: { readonly api: string; readonly counts: Counts }) => {
        const sum = byApi.get(api) ?? { ...NONE };
        add(sum, counts);
        add(total, counts);
        byApi.set(api, sum);
      });
      const [code] = await once(child, "exit");
      if (code !== 0) failed.push(shard);
    }),
  );
  const rows = [...byApi].map(([api, counts]) => ({ api, ...counts }));
  console.table([...rows, { api: "all", ...total }]);
  console.log(`${Math.round((Date.now() - started) / 1000)} s, ${jobs} job(s)`);
  const bad = total.hung + total.partialCalls + total.finishedEarly + total.broken;
  if (bad > 0 || failed.length > 0 || total.streams === 0) process.exitCode = 1;
}
