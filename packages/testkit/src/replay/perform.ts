import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type FakeAnthropic, startAnthropic } from "../anthropic/index.ts";
import { createScenarioClock, msOf, type ScenarioClock } from "./clock.ts";
import type { ReplayedGateway, ReplayHost } from "./host.ts";
import type { Performance, PostedEvent } from "./performance.ts";
import { startDingTalkPlatform } from "./platforms/dingtalk.ts";
import { startDiscordPlatform } from "./platforms/discord.ts";
import { startFeishuPlatform } from "./platforms/feishu.ts";
import { startIMessagePlatform } from "./platforms/imessage.ts";
import type { ReplayPlatform, StartPlatform } from "./platforms/platform.ts";
import { startSignalPlatform } from "./platforms/signal.ts";
import { startSlackPlatform } from "./platforms/slack.ts";
import { startTelegramPlatform } from "./platforms/telegram.ts";
import { startWebPlatform } from "./platforms/web.ts";
import { startWecomPlatform } from "./platforms/wecom.ts";
import { startWhatsAppPlatform } from "./platforms/whatsapp.ts";
import { type PlatformEvent, platformEvents, type Scenario } from "./scenario.ts";
import { createScenarioTurns, type ScenarioTurns } from "./turns.ts";

const KEY = "standin-anthropic-key";
const SETTLE_MS = 60_000;

/**
 * Plays a scenario on a gateway with its own home, against fake servers in this process.
 *
 * @throws Error if it is not idle after a minute, and errors of the host
 */
export async function perform(scenario: Scenario, host: ReplayHost): Promise<Performance> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-replay-"));
  const turns = createScenarioTurns(scenario.model);
  const anthropic = await startAnthropic({ script: turns.answer, apiKeys: [KEY] });
  const platforms = await startPlatforms(scenario);
  try {
    return await performIn(dir, scenario, host, { anthropic, turns, platforms });
  } finally {
    await Promise.all([anthropic.stop(), ...[...platforms.values()].map((platform) => platform.stop())]);
    rmSync(dir, { recursive: true, force: true });
  }
}

type Channel = PlatformEvent["channel"];
type Platforms = ReadonlyMap<Channel, ReplayPlatform>;

interface FakeServers {
  readonly anthropic: FakeAnthropic;
  readonly turns: ScenarioTurns;
  readonly platforms: Platforms;
}

const starts: Readonly<Record<Channel, StartPlatform>> = {
  dingtalk: startDingTalkPlatform,
  discord: startDiscordPlatform,
  feishu: startFeishuPlatform,
  imessage: startIMessagePlatform,
  signal: startSignalPlatform,
  slack: startSlackPlatform,
  telegram: startTelegramPlatform,
  web: startWebPlatform,
  wecom: startWecomPlatform,
  whatsapp: startWhatsAppPlatform,
};

/** Starts the platforms that have events. */
async function startPlatforms(scenario: Scenario): Promise<Platforms> {
  const channels = [...new Set(platformEvents(scenario).map(({ channel }) => channel))];
  return new Map(
    await Promise.all(channels.map(async (channel) => [channel, await starts[channel](scenario)] as const)),
  );
}

async function performIn(
  dir: string,
  scenario: Scenario,
  host: ReplayHost,
  { anthropic, turns, platforms }: FakeServers,
): Promise<Performance> {
  const home = join(dir, "home");
  for (const [agent, files] of Object.entries(scenario.workspace)) {
    for (const [path, text] of Object.entries(files)) {
      const file = join(host.workspace(home, agent), path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
  const env = {
    HOME: dir,
    PATH: process.env["PATH"],
    ANTHROPIC_KEY: KEY,
    ANTHROPIC_URL: anthropic.url,
    ...Object.assign({}, ...[...platforms.values()].map((platform) => platform.env)),
  };
  const clock = createScenarioClock(
    scenario.startsAt === undefined ? Date.now() : Date.parse(scenario.startsAt),
  );
  const gateway = await host.start({ home, config: scenario.config, env, clock });
  let events: readonly PostedEvent[];
  try {
    events = await play(scenario, gateway, platforms, clock);
  } finally {
    await gateway.stop();
  }
  return {
    name: scenario.name,
    problems: gateway.problems,
    events,
    ...(await gateway.records()),
    requests: anthropic.requests
      .map(({ body, text, status }) => ({ body, text, status }))
      .toSorted((a, b) => turns.placeOf(a.body) - turns.placeOf(b.body)),
    turns: scenario.model,
    sent: (await Promise.all([...platforms.values()].map((platform) => platform.sent()))).flat(),
    files: Object.fromEntries(
      Object.keys(scenario.expect.files ?? {}).map((name) => [
        name,
        readText(workspaceFile(host, home, name)),
      ]),
    ),
  };
}

/** Plays the events one after the other. */
async function play(
  { events }: Scenario,
  gateway: ReplayedGateway,
  platforms: Platforms,
  clock: ScenarioClock,
): Promise<PostedEvent[]> {
  const posted: PostedEvent[] = [];
  for (const event of events) {
    if ("wait" in event) {
      await settled(gateway);
      clock.advance(msOf(event.wait));
    } else {
      const answered = await platforms.get(event.channel)?.post(event, gateway);
      if (answered !== undefined) posted.push(answered);
    }
  }
  await settled(gateway);
  return posted;
}

/** Returns the path of a file that is specified as `agent/path`. */
function workspaceFile(host: ReplayHost, home: string, name: string): string {
  const [agent = "", ...path] = name.split("/");
  return join(host.workspace(home, agent), ...path);
}

/**
 * Waits until no work is pending. Checks twice, because the counts are not read at the same moment and work may move
 * from one to another in between.
 */
async function settled(gateway: ReplayedGateway): Promise<void> {
  const deadline = Date.now() + SETTLE_MS;
  for (let atRest = 0; Date.now() < deadline; ) {
    atRest = (await gateway.pending()) === 0 ? atRest + 1 : 0;
    if (atRest === 2) return;
    await delay(10);
  }
  throw new Error(`The scenario did not come to rest within ${SETTLE_MS / 1000} seconds.`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
