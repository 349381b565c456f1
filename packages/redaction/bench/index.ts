import { randomBytes } from "node:crypto";
import { createVault } from "../src/index.ts";
import { ALL_FORMS, createExample } from "./forms.ts";

const EXAMPLES = 50;
const seed = Number(process.env["SIGNALBOX_SEED"] ?? 1);

let state = seed;
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 32;
}

/** Texts that quote a credential: a vendor's error, a log line and a command. */
const QUOTES: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => `Incorrect API key provided: ${text}. You can find yours in the dashboard.`,
  json: (text) => JSON.stringify({ error: { message: `invalid key ${text}` } }),
  command: (text) => `curl -H 'x-key: ${text}' https://example.org`,
};

console.log(`seed ${seed}`);
const { redact } = createVault();
const missed: string[] = [];
for (const form of ALL_FORMS) {
  for (const [quote, put] of Object.entries(QUOTES)) {
    let caught = 0;
    for (let example = 0; example < EXAMPLES; example++) {
      const { text, secret } = createExample(form, random);
      if (!redact(put(text)).includes(secret)) caught += 1;
    }
    if (caught < EXAMPLES) missed.push(`${form.name} (${quote}): ${caught} of ${EXAMPLES}`);
  }
}
const all = ALL_FORMS.length * Object.keys(QUOTES).length;
console.log(
  `forms quoted in three ways, all examples of which were removed: ${all - missed.length} of ${all}`,
);
for (const line of missed) console.log(`  missed  ${line}`);

const vault = createVault(Array.from({ length: 30 }, () => randomBytes(24).toString("base64url")));
const words = JSON.stringify({
  level: 30,
  msg: "a run has ended",
  text: "some words of a log line ".repeat(8),
});
const sizes: Readonly<Record<string, string>> = {
  "a word": "queued",
  "a line of 110 characters with an id in it": `routed to agent:main:plain:direct:ou_${"881e8247".repeat(4)} by binding 2, since the peer is named`,
  "a line of 300 characters": words,
  "a text of 2 KB with an id in it": `${words.repeat(7)} run_01JZ3V8QXYZ0123456789`,
  "1 MB of words": words.repeat(4_000),
  "1 MB of letters": "a".repeat(1e6),
  "1 MB of beginnings of private keys": "-----BEGIN PRIVATE KEY-----".repeat(37_000),
  "1 MB of beginnings of addresses": "ab://x:".repeat(143_000),
  "1 MB of the word token=": "token= ".repeat(143_000),
};
for (const [name, text] of Object.entries(sizes)) {
  const rounds = text.length > 100_000 ? 3 : 2_000;
  for (let round = 0; round < rounds / 2; round++) vault.redact(text);
  const started = process.cpuUsage();
  for (let round = 0; round < rounds; round++) vault.redact(text);
  const { user, system } = process.cpuUsage(started);
  console.log(`${name}: ${((user + system) / rounds / 1_000).toFixed(3)} ms of processor time`);
}
