import { textMessage as textMessageOnFeishu } from "@signalbox/testkit/feishu";
import { startTelegram, textMessage } from "@signalbox/testkit/telegram";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { launch, openContext, whyNoBrowser } from "../support/chromium.ts";
import { said } from "../support/feishu-talk.ts";
import { APP, demoConfig, KEY, openWorld, TOKEN, type World, ZHANG } from "../support/harness.ts";

const missing = whyNoBrowser();
const BOT = "42:secret-of-the-bot-0123456789";
const OWNER = { id: 5001, firstName: "Ann" };

/** Counts what a person does. Waiting for the page is not a step. */
function countSteps() {
  const startedAt = Date.now();
  const steps: string[] = [];
  return {
    steps,
    async step(name: string, act: () => Promise<unknown>): Promise<void> {
      steps.push(name);
      await act();
    },
    print: () =>
      console.log(
        [
          `${steps.length} steps in ${((Date.now() - startedAt) / 1_000).toFixed(1)} s`,
          ...steps.map((name, index) => `${index + 1}. ${name}`),
        ].join("\n"),
      ),
  };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

type Step = ReturnType<typeof countSteps>["step"];

/** Signs in and makes the recommended model of the fake vendor the default. */
async function setUpModel({ anthropic }: World, url: string, page: Page, step: Step): Promise<void> {
  await page.goto(url);
  await step("enter the token that the gateway printed", async () => {
    await page.getByLabel("Gateway token").fill(TOKEN);
    await page.getByLabel("Gateway token").press("Enter");
  });
  await step("follow the link to the setup", () => page.getByRole("link", { name: "set one up" }).click());
  // Only this test needs the address, because its vendor is a fake server.
  await button(page, "More settings").click();
  await page.getByLabel("Address", { exact: true }).fill(anthropic.url);
  await step("paste the key", () => page.getByLabel("API key").fill(KEY));
  await step("check it", () => button(page, "Check").click());
  await step("use the recommended model", () => button(page, "Use this model").click());
  await page.getByText("Default model of the agents: anthropic/").waitFor();
}

/** Pairs the person whose code the bot sent, as an owner. */
async function makeOwner(page: Page, greeting: string, step: Step): Promise<void> {
  const code = /\b[A-Z0-9]{8}\b/.exec(greeting)?.[0] ?? "";
  await step("follow the link to the people", () =>
    page.getByRole("status").getByRole("link", { name: "People" }).click(),
  );
  await step("enter the code, as an owner", async () => {
    await page.getByLabel("Pairing code").fill(code);
    await page.getByLabel("Make this person an owner").check();
    await page.getByLabel("Pairing code").press("Enter");
  });
}

it.skipIf(missing !== undefined)(
  "goes from an empty home to a bot that answers on Telegram, in the browser only",
  async () => {
    const world = await openWorld();
    // The port and the token, which the first start prints.
    world.configure(demoConfig());
    const started = await world.start();
    const telegram = await startTelegram({ token: BOT });
    const browser = await launch();
    onTestFinished(async () => {
      await browser.close();
      await telegram.stop();
    });
    world.script(() => ({ text: "here I am" }));
    const page = await (await openContext(browser)).newPage();
    const { step, steps, print } = countSteps();

    await setUpModel(world, started.url, page, step);
    await step("choose Telegram", () =>
      page.getByRole("combobox", { name: "Channel" }).selectOption("telegram"),
    );
    await button(page, "More settings").last().click();
    await page.getByLabel("API address").fill(telegram.url);
    await step("paste the bot's token", () => page.getByLabel("Bot token").fill(BOT));
    await step("check and save it", () => button(page, "Check and save").click());
    await page.getByText("the bot is called Signalbox").waitFor();

    await step("write to the bot", () => telegram.push(textMessage("hello", { from: OWNER })));
    await expect.poll(() => telegram.sent.length).toBe(1);
    await makeOwner(page, telegram.sent[0]?.text ?? "", step);
    await page.getByRole("table", { name: "Owners" }).getByText("telegram:5001").waitFor();
    const before = telegram.sent.length;
    await telegram.push(textMessage("are you there?", { from: OWNER }));
    await expect
      .poll(() => telegram.sent.slice(before).map(({ text }) => text))
      .toContainEqual(expect.stringContaining("here I am"));
    print();
    expect(steps.length).toBeLessThanOrEqual(11);
  },
);

it.skipIf(missing !== undefined)(
  "goes from an empty home to a bot that answers on Feishu over a long connection, in the browser only",
  async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const started = await world.start();
    const browser = await launch();
    onTestFinished(() => browser.close());
    world.script(() => ({ text: "here I am" }));
    const page = await (await openContext(browser)).newPage();
    const { step, steps, print } = countSteps();
    const write = (text: string) =>
      world.feishu.pushEvent(textMessageOnFeishu(text, { senderId: ZHANG, messageId: `om_${text.length}` }));

    await setUpModel(world, started.url, page, step);
    await step("choose Feishu", () => page.getByRole("combobox", { name: "Channel" }).selectOption("feishu"));
    await button(page, "More settings").last().click();
    await page.getByLabel("API address").fill(world.feishu.url);
    await step("paste the App ID", () => page.getByLabel("App ID").fill(APP.appId));
    await step("paste a wrong App Secret", () => page.getByLabel("App secret").fill("wrong"));
    await step("check it", () => button(page, "Check and save").click());
    // Offered only after the platform has refused the secret.
    await button(page, "Save anyway").waitFor();
    await step("paste the App Secret", () => page.getByLabel("App secret").fill(APP.appSecret));
    await step("check and save it", () => button(page, "Check and save").click());
    await page.getByText("the bot is called").waitFor();

    await step("write to the bot", () => write("hello"));
    await expect.poll(() => said(world).length).toBe(1);
    await makeOwner(page, said(world)[0] ?? "", step);
    await page.getByRole("table", { name: "Owners" }).getByText(`feishu:${ZHANG}`).waitFor();
    await write("are you there?");
    await expect.poll(() => said(world)).toContainEqual(expect.stringContaining("here I am"));
    print();
    // Two of them are the wrong secret.
    expect(steps.length).toBeLessThanOrEqual(14);
  },
);
