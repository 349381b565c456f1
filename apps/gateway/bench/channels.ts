import { setTimeout as sleep } from "node:timers/promises";
import { startDiscord } from "@signalbox/testkit/discord";
import { startSlack } from "@signalbox/testkit/slack";
import { startTelegram } from "@signalbox/testkit/telegram";
import { type GatewayProcess, makeHome, removeHome, startProcess } from "./gateway-process.ts";
import { row, spread } from "./report.ts";
import { configFor, feishuAccount, type Setup } from "./setup.ts";

const STARTS = 5;
/** By then everything is loaded, and what that needed for the moment is given back. */
const IDLE_MS = 8_000;
const DISCORD_BOT = { id: "1000", username: "bench" };

/** What an account on each of the platforms costs, beside the same gateway with Feishu alone. The page is in both. */
export async function measureChannels(setup: Setup): Promise<void> {
  const discordToken = `${Buffer.from(DISCORD_BOT.id).toString("base64")}.made-up.secret`;
  const slackTokens = { botToken: "xoxb-token-of-the-bot", appToken: "xapp-token-of-the-app" };
  const telegramToken = "42:secret-of-the-bot-0123456789";
  const discord = await startDiscord({ token: discordToken, bot: DISCORD_BOT, users: {} });
  const slack = await startSlack({ ...slackTokens, users: {} });
  const telegram = await startTelegram({ token: telegramToken, users: [] });
  const home = makeHome(
    configFor(setup, {
      feishu: feishuAccount(setup),
      discord: { token: discordToken, apiBaseUrl: discord.url },
      slack: { ...slackTokens, baseUrl: slack.apiUrl },
      telegram: { botToken: telegramToken, apiBaseUrl: telegram.url },
    }),
  );
  try {
    const all: Figures = { readyMs: [], idleMb: [] };
    const feishu: Figures = { readyMs: [], idleMb: [] };
    for (let round = 0; round <= STARTS; round++) {
      // The first start fills the disk cache and the compile cache.
      await measure(home, setup.port, 4, round > 0 ? all : undefined);
      await measure(setup.home, setup.port, 1, round > 0 ? feishu : undefined);
    }
    compare("Feishu, Discord, Slack, Telegram: start to /readyz, ms", all.readyMs, feishu.readyMs, 1.5);
    compare("Feishu, Discord, Slack, Telegram: idle memory, MB", all.idleMb, feishu.idleMb, 2);
  } finally {
    await Promise.all([discord.stop(), slack.stop(), telegram.stop()]);
    removeHome(home);
  }
}

interface Figures {
  readonly readyMs: number[];
  readonly idleMb: number[];
}

async function measure(
  home: string,
  port: number,
  accounts: number,
  into: Figures | undefined,
): Promise<void> {
  const gateway = await startProcess(home, port);
  await sleep(IDLE_MS);
  await expectReady(gateway, accounts);
  into?.readyMs.push(gateway.readyMs);
  into?.idleMb.push(gateway.rss() / 1e6);
  await gateway.stop();
}

/** An account that could not start costs nothing, and would be measured as cheap. */
async function expectReady({ url, token }: GatewayProcess, accounts: number): Promise<void> {
  const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  const { channels } = (await answer.json()) as { channels: readonly { state: string }[] };
  const ready = channels.filter(({ state }) => state === "ready").length;
  if (ready < accounts) throw new Error(`${ready} of ${accounts} accounts: ${JSON.stringify(channels)}`);
}

function compare(name: string, ours: readonly number[], floor: readonly number[], times: number): void {
  const alone = spread(floor);
  row({
    name,
    ours: spread(ours),
    floor: { name: "Feishu alone", value: alone },
    marks: [{ atMost: times * alone.median }],
  });
}
