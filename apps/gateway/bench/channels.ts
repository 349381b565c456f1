import { startDiscord } from "@signalbox/testkit/discord";
import { startSlack } from "@signalbox/testkit/slack";
import { startTelegram } from "@signalbox/testkit/telegram";
import { makeHome, removeHome } from "./gateway-process.ts";
import { row, spread } from "./report.ts";
import { configFor, feishuAccount, type Setup } from "./setup.ts";
import { sideBySide } from "./side-by-side.ts";

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
    const { ours: all, floor: feishu } = await sideBySide(
      setup.port,
      { home, accounts: 4 },
      { home: setup.home, accounts: 1 },
    );
    compare("Feishu, Discord, Slack, Telegram: start to /readyz, ms", all.readyMs, feishu.readyMs, 1.5);
    compare("Feishu, Discord, Slack, Telegram: idle memory, MB", all.idleMb, feishu.idleMb, 2);
  } finally {
    await Promise.all([discord.stop(), slack.stop(), telegram.stop()]);
    removeHome(home);
  }
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
