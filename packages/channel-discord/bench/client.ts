// One program of the benchmark: loads a Discord client, connects it and prints the cost. Usage: node
// --expose-gc bench/client.ts nothing|parts|core|discord.js|channel|client [url of a fake server]
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { createInMemoryCache, createInMemoryState, systemClock } from "@signalbox/channel";

const [what = "nothing", url = ""] = process.argv.slice(2);
const cachesThatCanBeOff = [
  ...["ApplicationCommandManager", "AutoModerationRuleManager", "BaseGuildEmojiManager", "DMMessageManager"],
  ...["GuildBanManager", "GuildEmojiManager", "GuildForumThreadManager", "GuildInviteManager"],
  ...["GuildMemberManager", "GuildMessageManager", "GuildScheduledEventManager", "GuildStickerManager"],
  ...[
    "GuildTextThreadManager",
    "MessageManager",
    "PresenceManager",
    "ReactionManager",
    "ReactionUserManager",
  ],
  ...["StageInstanceManager", "ThreadManager", "ThreadMemberManager", "UserManager", "VoiceStateManager"],
];
const require = createRequire(import.meta.url);
const token = "MTAwMA.made-up.secret";

// Modules that a gateway loads anyway.
const { discord } = await import("@signalbox/channel-discord");
if (url !== "") await (await fetch(url)).text();
const before = await resident();
const start = performance.now();
await run();
const ms = performance.now() - start;
console.log(JSON.stringify({ ms: Math.round(ms), mb: Math.round(((await resident()) - before) * 10) / 10 }));
process.exit();

async function run(): Promise<void> {
  switch (what) {
    case "parts":
      return load("@discordjs/ws", "@discordjs/rest");
    case "core":
      return load("@discordjs/ws", "@discordjs/rest", "@discordjs/core");
    case "discord.js":
      return load("discord.js");
    case "channel":
      return connectChannel();
    case "client":
      return connectClient();
    default:
      return;
  }
}

function load(...names: readonly string[]): void {
  for (const name of names) require(name);
}

/** This package's channel, until all servers were delivered. */
async function connectChannel(): Promise<void> {
  const checked = await discord.config["~standard"].validate({ token, apiBaseUrl: url });
  if (checked.issues !== undefined) throw new Error("the settings are refused");
  const quiet = () => {};
  const channel = await discord.create({
    config: checked.value,
    account: "main",
    logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    emit: async () => "accepted",
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createInMemoryCache({ clock: systemClock }),
    state: createInMemoryState(),
    signal: new AbortController().signal,
  });
  await channel.start(new AbortController().signal);
  await delay(1_000);
}

/** discord.js's own client with all optional caches disabled. */
async function connectClient(): Promise<void> {
  const { Client, Events, Options } = await import("discord.js");
  const off = Object.fromEntries(cachesThatCanBeOff.map((name) => [name, 0]));
  const client = new Client({
    intents: [1 << 0, 1 << 9, 1 << 12, 1 << 15],
    makeCache: Options.cacheWithLimits(off),
    rest: { api: `${url}/api` },
  });
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(token);
  await ready;
  await delay(1_000);
}

/** Megabytes after garbage collection. */
async function resident(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    globalThis.gc?.();
    await delay(50);
  }
  return process.memoryUsage().rss / 1e6;
}
