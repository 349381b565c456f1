// Follows docs/first-hour.md like a person who has only Node.js, npm and that page: runs each command in order,
// performs the described actions in between (such as writing to the bot), and checks the promised output. Vendors are
// fake servers. Only their addresses are added to the commands.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { root, run } from "../workspace.mjs";

const KEY = "sk-ant-of-the-newcomer-0123456789";
const TOKEN = "42:secret-of-the-bot-0123456789";
/** The person whose messages the fake server sends to the bot. */
const OWNER = "5001";
const ANSWER = "Here I am.";
/** Time limit for each promised result, in milliseconds. */
const LONGEST_MS = 30_000;

/** Expected output of the page's commands, in order. `meanwhile` runs before the output is checked. */
const PROMISES = [
  { command: 'init --yes --provider anthropic --api-key "$ANTHROPIC_API_KEY" --channel', says: "answers." },
  { command: "config check", says: "no problems" },
  { command: "start", says: "listens on", meanwhile: (world) => world.writeToBot("are you there?", ANSWER) },
  { command: "status", says: "anthropic/" },
  { command: "send", says: ANSWER },
  { command: "messages", says: "are you there?" },
  { command: "why", says: "It was answered by agent main" },
  {
    command: "init --yes --provider anthropic --api-key not-a-key",
    says: "invalid x-api-key",
    code: 1,
    meanwhile: async (world) => {
      await world.rereadAgain();
      await world.writeToBot("and now?", "provider rejected this gateway's account");
    },
  },
  { command: "why", says: "failed (auth): invalid x-api-key" },
  { command: "logs", says: "invalid x-api-key" },
  { command: "doctor", says: "gateway" },
  {
    command: 'init --yes --provider anthropic --api-key "$ANTHROPIC_API_KEY"',
    says: "answers.",
    meanwhile: (world) => world.rereadAgain(),
  },
  { command: "send", says: ANSWER },
  { command: "pairing list", says: "" },
  { command: "backup", says: "database of" },
  { command: "restore", says: "Restored the database of the backup" },
  { command: "sessions --home", says: "are you there?" },
  { command: "doctor --home", says: "sound" },
];

/** @returns number of executed commands */
export async function followFirstHour(folder, { npmrc }) {
  const world = await openWorld(folder, npmrc);
  const promises = [...PROMISES];
  try {
    const commands = commandsOf(readFileSync(join(root, "docs", "first-hour.md"), "utf8"));
    for (const command of commands) {
      if (!command.includes("npx signalbox")) {
        await world.type(command);
        continue;
      }
      const promise = promises.shift();
      if (promise === undefined || !command.includes(`signalbox ${promise.command}`))
        throw new Error(`the page goes on with "${command}", of which nothing is known here`);
      const output = await world.type(command, promise.code);
      await promise.meanwhile?.(world);
      if (!output.includes(promise.says))
        throw new Error(`"${command}" does not say "${promise.says}":\n${output}`);
    }
    if (promises.length > 0) throw new Error(`the page has no "${promises[0].command}" any more`);
    return `${commands.length} commands`;
  } finally {
    await world.close();
  }
}

/** Returns the lines of the shell blocks of a page. */
function commandsOf(markdown) {
  return [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, text]) => text.trim().split("\n"));
}

/** Creates an empty home for the person, and the fake vendors. */
async function openWorld(folder, npmrc) {
  const { startAnthropic } = await fakeServer("anthropic");
  const { startTelegram, textMessage } = await fakeServer("telegram");
  const anthropic = await startAnthropic({ script: () => ({ text: ANSWER }), apiKeys: [KEY] });
  const telegram = await startTelegram({ token: TOKEN });
  const home = join(folder, "newcomer");
  mkdirSync(join(home, ".signalbox"), { recursive: true, mode: 0o700 });
  writeFileSync(join(home, ".npmrc"), npmrc);
  // Another gateway on this machine may use the default port.
  writeFileSync(join(home, ".signalbox", "signalbox.yaml"), "gateway: { port: 0 }\n");
  const env = {
    // The page requires a newer Node.js than the machine may have.
    PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
    HOME: home,
    ANTHROPIC_API_KEY: KEY,
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_ID: OWNER,
  };
  let place = home;
  let gateway;
  let reread = 0;
  const log = () => gateway?.said() ?? "";

  return {
    async type(command, expected = 0) {
      const line = withFakeServers(command, anthropic.url, telegram.url);
      if (line === "npx signalbox start") {
        gateway = startGateway(place, env);
        await until(
          () => log().includes("listens on"),
          () => `the gateway does not start:\n${log()}`,
        );
        return log();
      }
      const { code, output } = await run(
        "bash",
        ["-uc", `${line}\ncode=$?; pwd > "$HOME/place"; exit $code`],
        {
          cwd: place,
          env,
        },
      );
      if (code !== expected) throw new Error(`"${command}" ended with ${code}:\n${output}`);
      place = readFileSync(join(home, "place"), "utf8").trim();
      return output;
    },
    async writeToBot(text, expected) {
      const before = telegram.sent.length;
      await telegram.push(textMessage(text));
      const answers = () => telegram.sent.slice(before).map((message) => message.text);
      await until(
        () => answers().some((answer) => answer.includes(expected)),
        () => `the bot does not answer "${text}" with "${expected}", but ${JSON.stringify(answers())}`,
      );
    },
    /** Waits until the gateway has read the configuration that a command has just written. */
    async rereadAgain() {
      reread += 1;
      const times = () => log().split("the configuration was reloaded").length - 1;
      await until(
        () => times() >= reread,
        () => `the configuration is not read again:\n${log()}`,
      );
    },
    async close() {
      await gateway?.stop();
      await Promise.all([anthropic.stop(), telegram.stop()]);
    },
  };
}

function fakeServer(name) {
  return import(join(root, "packages", "testkit", "dist", name, "index.js"));
}

function withFakeServers(command, anthropic, telegram) {
  if (!command.includes("signalbox init")) return command;
  const channel = command.includes("--channel telegram") ? ` --set apiBaseUrl=${telegram}` : "";
  return `${command} --base-url ${anthropic}${channel}`;
}

/** Starts the program of `npx signalbox start` directly, because npx does not pass signals on. */
function startGateway(cwd, env) {
  const program = join(cwd, "node_modules", ".bin", "signalbox");
  const child = spawn(program, ["start"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => {
      said += text;
    });
  return {
    said: () => said,
    async stop() {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

async function until(holds, complaint) {
  const end = performance.now() + LONGEST_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error(complaint());
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
