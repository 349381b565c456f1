import { type FakeSlack, type SlackMessage, type SlackOptions, startSlack } from "@signalbox/testkit/slack";
import { onTestFinished } from "vitest";
import { exampleConfig, openWorld, type Started, type StartOptions, type World } from "./harness.ts";

const TOKENS = { botToken: "xoxb-token-of-the-bot", appToken: "xapp-token-of-the-app" };
/** Who writes, and where. */
export const PERSON = "U_ZHANG";
export const DIRECT = "D_ZHANG";
export const GENERAL = "C_GENERAL";

/** A gateway with an account on Slack, which has two sockets. */
export interface SlackTalk {
  readonly world: World;
  readonly slack: FakeSlack;
  readonly started: Started;
  /** Slack delivers. Whether it was acknowledged, for which a busy machine has more time than Slack gives. */
  push(delivery: Parameters<FakeSlack["pushEvent"]>[0]): Promise<boolean>;
  /** The same, until everything that follows has come to rest. */
  deliver(delivery: Parameters<FakeSlack["pushEvent"]>[0]): Promise<boolean>;
}

interface TalkOptions {
  /** Replaces whole parts of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly fakeServer?: Partial<SlackOptions>;
  readonly start?: StartOptions;
}

export async function openSlack({
  config = {},
  fakeServer = {},
  start = {},
}: TalkOptions = {}): Promise<SlackTalk> {
  const world = await openWorld();
  const slack = await startSlack({ ...TOKENS, users: { [PERSON]: { name: "张三" } }, ...fakeServer });
  onTestFinished(() => slack.stop());
  world.configure(
    exampleConfig({
      channels: { slack: { accounts: { main: { ...TOKENS, baseUrl: slack.apiUrl } } } },
      access: {
        dm: "open",
        owners: [`slack:${PERSON}`],
        groups: { mode: "allowlist", allow: [`slack:${GENERAL}`] },
      },
      ...config,
    }),
  );
  const started = await world.start(start);
  const push: SlackTalk["push"] = (delivery) => slack.pushEvent(delivery, { withinMs: 60_000 });
  return {
    world,
    slack,
    started,
    push,
    async deliver(delivery) {
      const isAcknowledged = await push(delivery);
      await started.settled();
      return isAcknowledged;
    },
  };
}

/** What stands in a conversation of the bot's, in order. */
export function answersIn(slack: FakeSlack, channel: string): readonly SlackMessage[] {
  return slack.sent.filter((one) => one.channel === channel && !one.isDeleted);
}

/** What people read of it now. */
export function textsIn(slack: FakeSlack, channel: string): (string | undefined)[] {
  return answersIn(slack, channel).map(({ shown }) => shown.at(-1));
}
