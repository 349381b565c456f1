// The gateway as a whole, built and in a process of its own, against zero-latency fake servers in this one, durability
// on. Every figure stands beside a floor measured in the same run and the mark it has to keep to. Usage: node
// bench/index.ts [starts] [channels] [memory] [first] [overhead] [load] [sessions] [tools] [recovery], by default all
// of them; or node bench/index.ts beside <checkout>, for this build beside the one of another checkout, beside which it
// may take a tenth more.
import { setFlagsFromString } from "node:v8";
import { measureChannels } from "./channels.ts";
import { besideEarlier } from "./earlier-build.ts";
import { measureFirstMessage } from "./first-message.ts";
import { startProcess } from "./gateway-process.ts";
import { measureManySessions, measureThroughput } from "./load.ts";
import { measureMemory } from "./memory.ts";
import { measureOverhead } from "./overhead.ts";
import { measureRecovery } from "./recovery.ts";
import { verdict } from "./report.ts";
import { type Setup, setUp } from "./setup.ts";
import { measureStarts } from "./starts.ts";
import { CompletionsSurface, FeishuSurface } from "./surfaces.ts";
import { measureToolTurns } from "./tools.ts";

// The clients and the fake servers live in this process: that it stops to collect its own garbage while a message
// is on its way is no doing of the gateway's.
setFlagsFromString("--heap-growing-percent=2000");

const MESSAGES = 100;
const MANY_SESSIONS = 10_000;

const PARTS: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  starts: measureStarts,
  channels: measureChannels,
  memory: measureMemory,
  first: measureFirstMessage,
  overhead: (setup) =>
    served(setup, async (feishu, completions) => {
      await measureOverhead(setup, completions);
      await measureOverhead(setup, feishu);
    }),
  tools: (setup) => served(setup, (feishu) => measureToolTurns(setup, feishu)),
  load: (setup) =>
    served(setup, async (feishu, _completions, gateway) => {
      for (let i = 0; i < 30; i++) await feishu.exchange("warm", `warm-${i}`);
      for (const sessions of [32, 8, 1])
        await measureThroughput(setup, gateway, feishu, { sessions, messages: MESSAGES });
    }),
  sessions: (setup) =>
    served(setup, async (feishu, _completions, gateway) => {
      for (let i = 0; i < 30; i++) await feishu.exchange("warm", `warm-${i}`);
      await measureManySessions(gateway, feishu, MANY_SESSIONS);
    }),
  recovery: measureRecovery,
};

const wanted = process.argv.slice(2);
if (wanted[0] === "beside") {
  await besideEarlier(wanted[1] ?? "");
  verdict();
  process.exit();
}
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(64);
}
for (const [name, part] of Object.entries(PARTS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  // Each on a home of its own, so that none measures what another has left.
  const setup = await setUp();
  try {
    await part(setup);
  } finally {
    await setup.stop();
  }
}
verdict();

async function served(
  setup: Setup,
  work: (
    feishu: FeishuSurface,
    completions: CompletionsSurface,
    gateway: Awaited<ReturnType<typeof startProcess>>,
  ) => Promise<void>,
): Promise<void> {
  const gateway = await startProcess(setup.home, setup.port);
  try {
    const feishu = new FeishuSurface(gateway, setup.feishu, setup.verificationToken);
    await work(feishu, new CompletionsSurface(gateway), gateway);
  } finally {
    await gateway.stop();
  }
}
