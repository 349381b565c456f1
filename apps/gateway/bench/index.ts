// The gateway as a whole, built and in a process of its own, against zero-latency stand-ins in this one. Every figure
// stands beside a floor measured in the same run. Usage: node bench/index.ts [messages per session, default 60]
import Anthropic from "@anthropic-ai/sdk";
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { type FeishuStandIn, push, startFeishu, textMessage } from "@signalbox/testkit/feishu";
import {
  freePort,
  type GatewayProcess,
  makeHome,
  removeHome,
  startFloor,
  startProcess,
} from "./gateway-process.ts";

const MESSAGES = Number(process.argv[2] ?? 60);
const STARTS = 7;
const TOKEN = "bench-verification-token";
const APP = { appId: "cli_bench", appSecret: "bench-app-secret" };

interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
}

/** Who waits for the reply to which message. One look at the stand-in's requests serves all of them. */
const waiting = new Map<string, (at: number) => void>();
let looked = 0;
let looking = false;

const modelSeen: number[] = [];
const anthropic = await startAnthropic({
  check: false,
  script: () => {
    modelSeen.push(now());
    return { text: "Done." };
  },
});
const feishu = await startFeishu({ ...APP, verificationToken: TOKEN, users: { ou_0: { name: "Ann" } } });
const port = await freePort();
const home = makeHome(`
gateway: { port: ${port}, logLevel: warn }
models: { providers: { anthropic: { api: anthropic-messages, apiKey: bench-key-0123456789, baseUrl: "${anthropic.url}" } } }
agents: { list: [ { id: main, model: anthropic/claude-sonnet-4-6 } ] }
channels: { feishu: { accounts: { main: { appId: ${APP.appId}, appSecret: ${APP.appSecret}, verificationToken: ${TOKEN}, baseUrl: "${feishu.url}" } } } }
access: { dm: open }
`);

try {
  await starts();
  const gateway = await startProcess(home, port);
  try {
    await memory(gateway);
    await overhead(gateway);
    for (const sessions of [1, 8, 32]) await throughput(gateway, sessions);
  } finally {
    await gateway.stop();
  }
} finally {
  await Promise.all([anthropic.stop(), feishu.stop()]);
  removeHome(home);
}

async function starts(): Promise<void> {
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round < STARTS + 1; round++) {
    const gateway = await startProcess(home, port);
    const bare = await startFloor(
      "require('http').createServer((q,s)=>s.end()).listen(0+process.argv[1])".replace(
        "0+process.argv[1]",
        String(port + 1),
      ),
      `http://127.0.0.1:${port + 1}/`,
    );
    // The first start fills the disk cache and the compile cache.
    if (round > 0) {
      ours.push(gateway.readyMs);
      floor.push(bare.readyMs);
    }
    await Promise.all([gateway.stop(), bare.stop()]);
  }
  row("process start to /readyz, ms", spread(ours), spread(floor), "bare node:http server", "600 at most");
}

async function memory(gateway: GatewayProcess): Promise<void> {
  const bare = await startFloor(
    `require('http').createServer((q,s)=>s.end()).listen(${port + 1})`,
    `http://127.0.0.1:${port + 1}/`,
  );
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const ours = gateway.rss() / 1e6;
  row("resident memory at idle, MB", one(ours), one(bare.rss / 1e6), "bare node:http server", "130 at most");
  await bare.stop();
}

async function overhead(gateway: GatewayProcess): Promise<void> {
  // Warm: SDKs are loaded by the first message.
  for (let i = 0; i < 30; i++) await message(gateway, "ou_0", `warm-${i}`);
  const inbound: number[] = [];
  const outbound: number[] = [];
  for (let i = 0; i < 200; i++) {
    const seen = modelSeen.length;
    const { postedAt, repliedAt } = await message(gateway, "ou_0", `over-${i}`);
    const modelAt = modelSeen[seen] ?? Number.NaN;
    inbound.push(modelAt - postedAt);
    outbound.push(repliedAt - modelAt);
  }
  const floor: number[] = [];
  const client = new Anthropic({ apiKey: "bench-key-0123456789", baseURL: anthropic.url });
  for (let i = 0; i < 230; i++) {
    const startedAt = now();
    const seen = modelSeen.length;
    await rawTurn(client);
    if (i >= 30) floor.push((modelSeen[seen] ?? Number.NaN) - startedAt);
  }
  row(
    "inbound: event posted to model request, ms",
    spread(inbound),
    spread(floor),
    "raw SDK: call to model request",
    "median 5 at most",
  );
  const bare: number[] = [];
  for (let i = 0; i < 230; i++) {
    const startedAt = now();
    await (await fetch(`${feishu.url}/bench`, { method: "POST", body: "{}" })).arrayBuffer();
    if (i >= 30) bare.push((feishu.requests.at(-1)?.at ?? Number.NaN) - startedAt);
  }
  row(
    "outbound: model answered to platform call, ms",
    spread(outbound),
    spread(bare),
    "bare fetch: call to platform",
    "median 5 at most",
  );
}

async function throughput(gateway: GatewayProcess, sessions: number): Promise<void> {
  const cpu = gateway.cpuMs();
  const io = gateway.io();
  const started = now();
  await Promise.all(
    Array.from({ length: sessions }, async (_, session) => {
      for (let i = 0; i < MESSAGES; i++)
        await message(gateway, `ou_s${sessions}_${session}`, `s${sessions}-${session}-${i}`);
    }),
  );
  const seconds = (now() - started) / 1000;
  const count = sessions * MESSAGES;
  const client = new Anthropic({ apiKey: "bench-key-0123456789", baseURL: anthropic.url });
  const floorStarted = now();
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      for (let i = 0; i < MESSAGES; i++) await rawTurn(client);
    }),
  );
  const floor = count / ((now() - floorStarted) / 1000);
  row(
    `messages a second, ${sessions} sessions`,
    one(count / seconds),
    one(floor),
    "raw SDK, a call a message",
    sessions === 32 ? "300 at least" : "",
  );
  const after = gateway.io();
  console.log(
    `    CPU ${((gateway.cpuMs() - cpu) / count).toFixed(2)} ms, ${((after.bytes - io.bytes) / count / 1024).toFixed(1)} KB and ${((after.writes - io.writes) / count).toFixed(1)} write calls a message; resident ${(gateway.rss() / 1e6).toFixed(0)} MB`,
  );
}

async function rawTurn(client: Anthropic): Promise<void> {
  const stream = await client.messages.create({
    model: "claude-sonnet-4-6",
    max_tokens: 1024,
    stream: true,
    messages: [{ role: "user", content: "hello" }],
  });
  for await (const _ of stream) {
    // Reading it is all there is to do.
  }
}

/** Posts one event and waits until its reply is at the platform. */
async function message(
  gateway: GatewayProcess,
  sender: string,
  id: string,
): Promise<{ postedAt: number; repliedAt: number }> {
  const event = textMessage("hello there", {
    eventId: `ev_${id}`,
    messageId: `om_${id}`,
    senderId: sender,
    chatId: `oc_${sender}`,
  });
  feishu.plant({
    messageId: `om_${id}`,
    chatId: `oc_${sender}`,
    msgType: "text",
    content: "{}",
    senderId: sender,
  });
  const { headers, body } = push(event, { token: TOKEN });
  const replied = replyOf(feishu, `om_${id}`);
  const postedAt = now();
  const response = await fetch(`${gateway.url}/channels/feishu/main/events`, {
    method: "POST",
    headers,
    body,
  });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the event was answered ${response.status}`);
  return { postedAt, repliedAt: await replied };
}

function replyOf(standIn: FeishuStandIn, messageId: string): Promise<number> {
  return new Promise((resolve) => {
    waiting.set(messageId, resolve);
    if (looking) return;
    looking = true;
    setImmediate(look, standIn);
  });
}

function look(standIn: FeishuStandIn): void {
  for (; looked < standIn.requests.length; looked++) {
    const request = standIn.requests[looked];
    const messageId = /\/messages\/([^/]+)\/reply/.exec(request?.path ?? "")?.[1];
    if (request === undefined || messageId === undefined) continue;
    waiting.get(messageId)?.(request.at);
    waiting.delete(messageId);
  }
  looking = waiting.size > 0;
  if (looking) setTimeout(look, waiting.size > 1 ? 1 : 0, standIn);
}

function now(): number {
  return performance.timeOrigin + performance.now();
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { min: at(0), median: at(0.5), p99: at(0.99) };
}

function one(value: number): Spread {
  return { min: value, median: value, p99: value };
}

function row(name: string, ours: Spread, floor: Spread | undefined, floorName: string, mark: string): void {
  const figures =
    ours.min === ours.p99
      ? ours.median.toFixed(1)
      : `${ours.median.toFixed(1)} (min ${ours.min.toFixed(1)}, p99 ${ours.p99.toFixed(1)})`;
  const against =
    floor === undefined
      ? ""
      : `  ${(ours.median / floor.median).toFixed(2)} × ${floor.median.toFixed(1)} (${floorName})`;
  console.log(`${name.padEnd(48)} ${figures}${against}${mark === "" ? "" : `  mark: ${mark}`}`);
}
