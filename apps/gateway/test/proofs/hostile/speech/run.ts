// `npm run prove -- hostile`, its part about speech: a hostile speech service tries to make the gateway request private
// addresses, fill its memory, wait for ever or send people something else than audio, a hostile transcription service
// claims an endless recording, and people try to cause costs or to send secrets away. Then each check is removed in a
// copy of the source, and an attack must succeed.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Attachments from "@signalbox/attachments";
import { loadConfig } from "@signalbox/config";
import { openStore } from "@signalbox/store";
import type { Ledger } from "@signalbox/store/types";
import { createOggOpus } from "@signalbox/testkit/speech";
import { detectEncoding } from "@signalbox/tools";
import { stringify } from "yaml";
import type * as Speeches from "../../../../src/agent/speech.ts";
import type * as Costs from "../../../../src/agent/transcription-costs.ts";
import type * as Transcribers from "../../../../src/configure/transcription.ts";

const GATEWAY = join(import.meta.dirname, "..", "..", "..", "..", "src");
const ATTACHMENTS = join(GATEWAY, "..", "..", "..", "packages", "attachments", "src");
const PIECE = Buffer.alloc(1_000_000, "a");
/** Megabytes, and milliseconds, that count as damage. */
const MAX_SENT = 60;
const MAX_MS = 6_000;
const SECRET = "sk-proof-of-the-speech-0123456789";
/** Price of a thousand characters, and of a minute, in dollars. */
const PRICE = 1;

interface Sources {
  readonly speech: typeof Speeches;
  readonly transcription: typeof Transcribers;
  readonly costs: typeof Costs;
  readonly attachments: typeof Attachments;
}

interface Attack {
  readonly answer?: (response: ServerResponse, inside: string) => void;
  readonly text?: string;
  readonly role?: "guest" | "member";
  /** Number of answers to speak. */
  readonly answers?: number;
  /** True if the service transcribes instead. */
  readonly transcribes?: boolean;
}

const sendForever = (response: ServerResponse): void => {
  const send = (): void => {
    while (!response.destroyed && response.write(PIECE));
    if (!response.destroyed) response.once("drain", send);
  };
  send();
};

const ATTACKS: Readonly<Record<string, Attack>> = {
  "a redirect to a private address": {
    answer: (response, inside) => void response.writeHead(307, { location: `${inside}/secret` }).end(),
  },
  "audio without end": {
    answer: (response) => {
      response.write(createOggOpus());
      sendForever(response);
    },
  },
  "an error without end": {
    answer: (response) => {
      response.writeHead(500);
      sendForever(response);
    },
  },
  "a response that never ends, byte by byte": {
    answer: (response) => {
      const drip = setInterval(() => response.write("O"), 50);
      response.once("close", () => clearInterval(drip));
    },
  },
  "a page instead of audio": {
    answer: (response) => void response.end("<!doctype html><title>Sign in</title>"),
  },
  "a program instead of audio": {
    answer: (response) =>
      void response
        .writeHead(200, { "content-type": "audio/ogg" })
        .end(Buffer.from("MZ\x90\0".padEnd(400, "\0"))),
  },
  "an answer with a secret": { text: `Your key is ${SECRET}.` },
  "a guest who wants to hear answers": { role: "guest" },
  "a member who has used up the budget": { role: "member", answers: 5 },
  "unusable audio, which nobody pays for": {
    role: "member",
    answers: 5,
    answer: (response) => void response.end("<html>"),
  },
  "a transcript without end": { transcribes: true, answer: sendForever },
  "a recording that is said to last for years": {
    transcribes: true,
    answer: (response) =>
      void response.end(JSON.stringify({ text: "Hi", usage: { type: "duration", seconds: 1e9 } })),
  },
};

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns the damage of an attack, if any. */
async function attempt(sources: Sources, name: string): Promise<string | undefined> {
  const attack = ATTACKS[name] ?? {};
  const dir = mkdtempSync(join(tmpdir(), "hostile-speech-"));
  let insideRequests = 0;
  const inside = createServer((_, response) => {
    insideRequests += 1;
    response.end(createOggOpus());
  });
  const insideUrl = await listen(inside);
  const bodies: string[] = [];
  let sent = () => 0;
  const service = createServer(async (request, response) => {
    const { socket } = request;
    sent = () => socket.bytesWritten / 1_000_000;
    let body = "";
    for await (const chunk of request) body += chunk;
    bodies.push(body);
    if (attack.answer === undefined) response.end(createOggOpus());
    else attack.answer(response, insideUrl);
  });
  const baseUrl = await listen(service);
  const watch = setInterval(() => sent() > MAX_SENT && service.closeAllConnections(), 20);
  const startedAt = Date.now();
  const forceEnd = setTimeout(() => service.closeAllConnections(), MAX_MS + 1_000);
  const store = await openStore({ path: join(dir, "proof.db") });
  try {
    const lease = await store.leases.acquire("proof", "proof", 60_000);
    if (lease === undefined) throw new Error("the lease was not acquired");
    const ledger = store.budgets.ledger(lease);
    const run: Run = {
      baseUrl,
      dir,
      store,
      spent: [],
      ledger: {
        reserve: (...given) => ledger.reserve(...given),
        settle: (id, amount) => {
          run.spent.push(amount.micros);
          return ledger.settle(id, amount);
        },
        grant: (pot) => ledger.grant(pot),
        balances: (pots) => ledger.balances(pots),
      },
    };
    const result = await (attack.transcribes === true ? transcribe : speak)(sources, attack, run);
    if (insideRequests > 0) return "a private address was requested";
    if (sent() > MAX_SENT) return `it accepted ${Math.round(sent())} MB`;
    if (Date.now() - startedAt > MAX_MS) return "it waited without limit";
    if (bodies.some((body) => body.includes(SECRET))) return "a secret was sent to the service";
    if (attack.role === "guest" && bodies.length > 0) return "a guest caused a request";
    if (attack.role === "member" && bodies.length > 1) return `${bodies.length} answers were requested`;
    return result;
  } finally {
    clearInterval(watch);
    clearTimeout(forceEnd);
    for (const server of [inside, service]) {
      server.closeAllConnections();
      server.close();
    }
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

interface Run {
  readonly baseUrl: string;
  readonly dir: string;
  readonly store: Awaited<ReturnType<typeof openStore>>;
  readonly ledger: Ledger;
  /** Costs of the calls, in micro-dollars. */
  readonly spent: number[];
}

function createConfig(baseUrl: string) {
  const text = stringify({
    models: { providers: { evil: { api: "openai-chat", baseUrl, apiKey: "key" } } },
    media: {
      speech: { model: "evil/tts-1", voice: "alloy", timeoutMs: 3_000, price: PRICE },
      transcription: "evil/whisper-1",
      transcriptionPrice: PRICE,
    },
    // Enough for one answer.
    budgets: [{ of: "sender", usd: 0.03, action: "stop" }],
  });
  return loadConfig({ file: "signalbox.yaml", text, env: {} });
}

const EVENT = { channel: "test", account: "main", sender: { id: "u1" }, media: [] };

/** Returns the damage, if the answer that is sent is not audio. */
async function speak(
  { speech, attachments }: Sources,
  attack: Attack,
  run: Run,
): Promise<string | undefined> {
  const loaded = createConfig(run.baseUrl);
  const settings = loaded.config;
  const out = attachments.createOutgoing({
    blobs: attachments.createBlobs(join(run.dir, "media")),
    folder: () => Promise.reject(new Error("there is no folder")),
    fetch: () => Promise.reject(new Error("nothing is fetched")),
    inspector: { detectEncoding },
    logger: { warn() {}, debug() {} },
  });
  const current = { settings, loaded };
  // The proof gives only what speech uses.
  const core = {
    config: {
      current: () => current,
      derived: (compute: (config: unknown) => unknown) => () => compute(current),
    },
    env: {},
    redact: (text: string) => text.replaceAll(SECRET, "[secret]"),
    logger: { warn() {} },
    store: run.store,
    now: Date.now,
  } as unknown as Parameters<typeof Speeches.createSpeech>[0];
  const reports = { ledger: run.ledger, onNotice() {}, logger: { warn() {} }, now: Date.now };
  const speaker = speech.createSpeech(core, out, reports);
  const agent = { id: "main", speech: "always" };
  for (let index = 0; index < (attack.answers ?? 1); index++) {
    const spoken = await speaker.speak({
      agent,
      message: { event: EVENT, role: attack.role ?? "member" },
      text: attack.text ?? "This answer has about thirty-six signs.",
      sendMedia: { audio: { maxBytes: 50_000_000 }, file: { maxBytes: 50_000_000 } },
      signal: new AbortController().signal,
    } as unknown as Parameters<typeof speaker.speak>[0]);
    if (spoken !== undefined && "part" in spoken && spoken.part.mimeType !== "audio/ogg")
      return `people receive ${spoken.part.mimeType}`;
  }
  return undefined;
}

/** Returns the damage, if the sender pays more than the recording can have cost. */
async function transcribe(
  { transcription, costs }: Sources,
  _attack: Attack,
  run: Run,
): Promise<string | undefined> {
  const { config } = createConfig(run.baseUrl);
  const payer = { agent: "main", sender: "test:u1", channel: "test", role: "member" as const };
  const reports = { ledger: run.ledger, onNotice() {}, logger: { warn() {} }, now: Date.now };
  const charge = costs.createTranscriptionCosts(
    () => config,
    () => payer,
    reports,
  );
  const message = {} as Parameters<typeof charge>[0];
  const transcriber = transcription.createTranscriber(config, {}, { pay: charge(message) });
  const recording = { bytes: createOggOpus(), mimeType: "audio/ogg", extension: "opus" };
  await transcriber?.transcribe(recording, AbortSignal.timeout(MAX_MS * 2)).catch(() => undefined);
  const spent = Math.max(0, ...run.spent);
  return spent > 100_000 ? `the sender paid ${spent / 1_000_000} dollars` : undefined;
}

async function load(gateway: string, attachments: string): Promise<Sources> {
  const from = (folder: string, file: string) => import(pathToFileURL(join(folder, file)).href);
  return {
    speech: await from(gateway, "agent/speech.ts"),
    costs: await from(gateway, "agent/transcription-costs.ts"),
    transcription: await from(gateway, "configure/transcription.ts"),
    attachments: await from(attachments, "index.ts"),
  };
}

const CHECKS = [
  ["a redirect to a private address", GATEWAY, "configure/speech.ts", 'redirect: "error",', ""],
  ["audio without end", GATEWAY, "configure/read-response.ts", "if (bytes > maxBytes)", "if (bytes > 1e12)"],
  [
    "an error without end",
    GATEWAY,
    "configure/read-response.ts",
    "if (bytes > maxBytes)",
    "if (bytes > 1e12)",
  ],
  [
    "a transcript without end",
    GATEWAY,
    "configure/read-response.ts",
    "if (bytes > maxBytes)",
    "if (bytes > 1e12)",
  ],
  [
    "a response that never ends, byte by byte",
    GATEWAY,
    "configure/speech.ts",
    "AbortSignal.any([signal, AbortSignal.timeout(speech.timeoutMs)])",
    "signal",
  ],
  [
    "a program instead of audio",
    ATTACHMENTS,
    "media-type.ts",
    'type === undefined || !type.mime.startsWith("audio/")',
    "type === undefined",
  ],
  ["an answer with a secret", GATEWAY, "agent/speech.ts", "toSpokenText(redact(text),", "toSpokenText(text,"],
  ["a guest who wants to hear answers", GATEWAY, "agent/speech.ts", 'message.role === "guest"', "false"],
  [
    "a member who has used up the budget",
    GATEWAY,
    "agent/speech.ts",
    "await calls.pay<Uint8Array | SpeechFailure>(payer, amount, async () => {",
    "await (async (make: () => Promise<{ value: any }>) => (await make()).value)(async () => {",
  ],
  [
    "unusable audio, which nobody pays for",
    GATEWAY,
    "agent/speech.ts",
    "return { value: await call(text, signal), amount };",
    "return { value: await call(text, signal), amount: { tokens: 0, micros: 0 } };",
  ],
  [
    "a recording that is said to last for years",
    GATEWAY,
    "agent/transcription-costs.ts",
    "Math.min(value.seconds ?? longest, longest)",
    "value.seconds ?? longest",
  ],
] as const;

/** Loads the sources with a check removed. */
async function withoutCheck(
  index: number,
  [, folder, file, text, replacement]: (typeof CHECKS)[number],
  work: (sources: Sources) => Promise<void>,
): Promise<void> {
  const copy = join(folder, "..", `.defenceless-${process.pid}-${index}`);
  cpSync(folder, copy, { recursive: true });
  try {
    const source = readFileSync(join(copy, file), "utf8");
    if (!source.includes(text)) throw new Error(`${file} does not have: ${text}`);
    writeFileSync(join(copy, file), source.replace(text, replacement));
    await work(await load(folder === GATEWAY ? copy : GATEWAY, folder === ATTACHMENTS ? copy : ATTACHMENTS));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

let failed = false;
const sources = await load(GATEWAY, ATTACHMENTS);
for (const name of Object.keys(ATTACKS)) {
  const damage = await attempt(sources, name);
  if (damage === undefined) continue;
  console.log(`  ${name}: ${damage}`);
  failed = true;
}
console.log(`speech: ${Object.keys(ATTACKS).length} attacks tried${failed ? "" : ", 0 got through"}`);
for (const [index, check] of CHECKS.entries()) {
  const [name] = check;
  await withoutCheck(index, check, async (defenceless) => {
    const damage = await attempt(defenceless, name);
    console.log(`without the check against "${name}": ${damage === undefined ? "NOT CAUGHT" : "caught"}`);
    if (damage === undefined) failed = true;
  });
}
process.exit(failed ? 1 : 0);
