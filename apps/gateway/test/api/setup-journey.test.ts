import { startTelegram, textMessage } from "@signalbox/testkit/telegram";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { launch, whyNoBrowser } from "../support/chromium.ts";
import { demoConfig, KEY, openWorld, TOKEN } from "../support/harness.ts";

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
    const page = await (await browser.newContext()).newPage();
    const { step, steps, print } = countSteps();

    await page.goto(started.url);
    await step("enter the token that the gateway printed", async () => {
      await page.getByLabel("Gateway token").fill(TOKEN);
      await page.getByLabel("Gateway token").press("Enter");
    });
    await step("follow the link to the setup", () => page.getByRole("link", { name: "set one up" }).click());
    // Only this test needs the address, because its vendor is a fake server.
    await button(page, "More settings").click();
    await page.getByLabel("Address", { exact: true }).fill(world.anthropic.url);
    await step("paste the key", () => page.getByLabel("API key").fill(KEY));
    await step("check it", () => button(page, "Check").click());
    await step("use the recommended model", () => button(page, "Use this model").click());
    await page.getByText("Default model of the agents: anthropic/").waitFor();
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
    const code = /\b[A-Z0-9]{8}\b/.exec(telegram.sent[0]?.text ?? "")?.[0] ?? "";
    await step("follow the link to the people", () =>
      page.getByRole("status").getByRole("link", { name: "People" }).click(),
    );
    await step("enter the code, as an owner", async () => {
      await page.getByLabel("Pairing code").fill(code);
      await page.getByLabel("Make this person an owner").check();
      await page.getByLabel("Pairing code").press("Enter");
    });
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
