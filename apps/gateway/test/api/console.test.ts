import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { ScriptedTurn } from "@signalbox/testkit";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { launch, openContext, whyNoBrowser } from "../support/chromium.ts";
import { demoConfig, exampleConfig, openWorld, type Started, TOKEN, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const missing = whyNoBrowser();
if (missing !== undefined) console.log(`The console is not tested with the gateway: ${missing}.`);

let browser: Browser;

/** A page of a browser that nobody is signed in with; whatever it complains of fails the test. */
async function openPage(started: Started): Promise<Page> {
  const context = await openContext(browser, { viewport: { width: 1180, height: 800 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (entry) => {
    // A refused request is noted there, too.
    if (entry.type() === "error" && !/^Failed to load resource|^WebSocket connection to/.test(entry.text()))
      complaints.push(entry.text());
  });
  onTestFinished(async () => {
    await context.close();
    expect(complaints).toEqual([]);
  });
  await page.goto(started.url);
  return page;
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel("Gateway token").fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await message(page).waitFor();
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /Account and settings/ }).click();
  await page.getByRole("menuitem", { name: "Sign out" }).click();
}

const CALLS = [
  { id: "toolu_1", name: "ls", input: { path: "." } },
  { id: "toolu_2", name: "read", input: {} },
];

const log = (page: Page) => page.getByRole("log");
const message = (page: Page) => page.getByRole("textbox", { name: /^Message / });

async function send(page: Page, text: string): Promise<void> {
  await message(page).fill(text);
  await message(page).press("Enter");
}

/** What the page shows of the conversation, in order. */
async function shown(page: Page): Promise<string[]> {
  // What shows Markdown is loaded when it is first needed; until then the text stands there as it is.
  const answers = log(page).locator("article .markdown");
  if ((await answers.count()) > 0) await log(page).locator("article .markdown > *").first().waitFor();
  return log(page)
    .locator("article, details[data-state], [role=alert], [data-outcome]")
    .evaluateAll((elements) =>
      elements.map((element) => {
        const outcome = element.getAttribute("data-outcome");
        const kind = outcome === null ? `tool ${element.getAttribute("data-state")}` : `end ${outcome}`;
        const who = element.getAttribute("aria-label") ?? kind;
        const text = element.querySelector("summary") ?? element;
        return `${who}: ${(text.textContent ?? "").replace(/\s+/g, " ").trim()}`;
      }),
    );
}

/** As after a reload: without the ends of runs and the times of calls, which only live viewers see. */
function lasting(items: readonly string[]): string[] {
  return items.filter((item) => !item.startsWith("end ")).map((item) => item.replace(/ \d+ ms$/, ""));
}

/** Keeps what the page looks like, in the folder that `SIGNALBOX_SCREENSHOTS` names. */
async function shot(page: Page, name: string): Promise<void> {
  const folder = process.env["SIGNALBOX_SCREENSHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

async function demo(): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(demoConfig());
  return { world, started: await world.start() };
}

describe.skipIf(missing !== undefined)("the console with the gateway", () => {
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("signs in with the token alone, and out again", async () => {
    const { started } = await demo();
    const page = await openPage(started);
    await page.getByLabel("Gateway token").fill("a guess");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page
      .getByRole("alert")
      .getByText(/wrong or has been revoked/)
      .waitFor();
    await shot(page, "wrong-token");
    await signIn(page);
    expect(await page.getByRole("note").textContent()).toContain("Demo.");
    await shot(page, "welcome");
    await signOut(page);
    await page.getByLabel("Gateway token").waitFor();
    await page.reload();
    await page.getByLabel("Gateway token").waitFor();
  });

  it("shows the answers to an agent's question as buttons until one is sent", async () => {
    const world = await openWorld();
    const question = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };
    world.configure(
      exampleConfig({
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [{ id: "coder", tools: { allow: ["ask_user"] } }],
        },
      }),
    );
    world.script([{ toolCalls: [{ name: "ask_user", input: question }] }, { text: "As you like." }]);
    const page = await openPage(await world.start());
    await signIn(page);
    await send(page, "make me a drink");
    await log(page).getByRole("button", { name: "Coffee" }).click();
    await log(page).getByText("As you like.").waitFor();
    expect(await log(page).getByRole("button", { name: "Tea" }).count()).toBe(0);
    const [, answered] = modelRequests(world.anthropic);
    expect(answered?.messages.at(-1)?.text).toBe("They answered: Coffee");
  });

  it("stays signed in over a reload and in a second tab, until one of them signs out", async () => {
    const { started } = await demo();
    const page = await openPage(started);
    await signIn(page);
    await page.reload();
    await message(page).waitFor();
    const other = await page.context().newPage();
    await other.goto(started.url);
    await message(other).waitFor();
    await signOut(other);
    await other.getByLabel("Gateway token").waitFor();
    await page.getByLabel("Gateway token").waitFor();
    // Whoever clears what the page keeps signs in again; the cookie that is left over is in nobody's way.
    await signIn(page);
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await signIn(page);
    await page.reload();
    await message(page).waitFor();
  });

  it("is signed in on this port only: a server on another port cannot replay the cookie", async () => {
    const { started } = await demo();
    const page = await openPage(started);
    const cookies: string[] = [];
    const neighbour = createServer((request, response) => {
      cookies.push(request.headers.cookie ?? "");
      response
        .setHeader("content-type", "text/html")
        .end("<title>a neighbour</title><link rel=icon href='data:,'>");
    });
    await once(neighbour.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void neighbour.close());
    await signIn(page);
    const visit = await page.context().newPage();
    await visit.goto(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}`);
    // The browser does show it the cookie. What its own page can read has nothing of the other half.
    const [cookie = ""] = cookies;
    expect(cookie).toMatch(/^signalbox-\d+=[\w-]{43}$/);
    expect(await visit.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).toBe("{}");
    const headers = { cookie };
    for (const path of ["/api/me", "/api/conversations"])
      expect((await fetch(started.url + path, { headers })).status).toBe(401);
    const socket = new WebSocket(`${started.url.replace("http", "ws")}/ws`, { headers });
    const [error] = await once(socket, "error");
    expect(error).toMatchObject({ message: "Unexpected server response: 401" });
    await page.reload();
    await message(page).waitFor();
  });

  it("talks to the demo model, which works with real tools", async () => {
    const { started } = await demo();
    const page = await openPage(started);
    await signIn(page);
    await send(page, "write notes.txt with tea at four");
    await log(page).getByText("Wrote notes.txt.").waitFor();
    await send(page, "list files");
    await log(page).getByText("The directory holds:").waitFor();
    await log(page)
      .getByText(/notes\.txt/)
      .last()
      .waitFor();
    const call = log(page).locator("details[data-state]").filter({ hasText: "ls" });
    const result = call.getByText("notes.txt");
    expect(await result.isVisible()).toBe(false);
    await call.locator("summary").click();
    await result.waitFor();
    expect(await result.isVisible()).toBe(true);
    await shot(page, "demo");
    await expect.poll(() => page.getByRole("link", { name: /write notes\.txt/ }).count()).toBe(1);
    await expect.poll(async () => (await shown(page)).at(-1)).toMatch(/^end replied: .* tokens in/);

    // A reload shows the very same, each message once.
    const before = lasting(await shown(page));
    expect(before.map((item) => item.split(":")[0])).toEqual([
      "You",
      "tool done",
      "Agent",
      "You",
      "tool done",
      "Agent",
    ]);
    await page.reload();
    await log(page).getByText("The directory holds:").waitFor();
    // A text is shown as it was written until the module for Markdown is loaded.
    await expect.poll(async () => lasting(await shown(page))).toEqual(before);
    // It goes on from there, and a second window of the same browser sees it come.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await log(other).getByText("The directory holds:").waitFor();
    await send(page, "read notes.txt");
    await log(page).getByText("tea at four").last().waitFor();
    await expect.poll(async () => lasting(await shown(other))).toEqual(lasting(await shown(page)));
    await other.reload();
    await expect.poll(async () => lasting(await shown(other))).toEqual(lasting(await shown(page)));
  });

  it("streams text turn by turn, and shows all of it to a late viewer", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ channels: {} }));
    const goOn = Promise.withResolvers<void>();
    const turns: ScriptedTurn[] = [
      { text: "[[reply_to_current]] Let me look.", toolCalls: CALLS },
      { text: "One **bold** word, ", stopReason: "max_tokens" },
      { text: "and many more to the very end." },
    ];
    world.script(async (_, index) => {
      if (index === 2) await goOn.promise;
      return turns[index] ?? {};
    });
    const started = await world.start();
    const page = await openPage(started);
    await signIn(page);
    await send(page, "what is there?");
    await log(page).getByText("One bold word").waitFor();
    const late = await page.context().newPage();
    await late.goto(page.url());
    await log(late).getByText("One bold word").waitFor();
    await shot(page, "streaming");
    goOn.resolve();
    const whole = [
      "You: what is there?",
      "Agent: Let me look.",
      "tool done: ls.done",
      // Refused before it starts: the file has no name.
      "tool failed: readfailed",
      "Agent: One bold word, and many more to the very end.",
    ];
    for (const one of [page, late]) {
      await log(one).getByText("very end.").waitFor();
      await expect.poll(async () => lasting(await shown(one))).toEqual(whole);
    }
    await page.reload();
    await expect.poll(async () => lasting(await shown(page))).toEqual(whole);
  });

  it("shows an error, also after a reload", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ channels: {} }));
    world.script([{ error: { status: 401, message: "invalid x-api-key" } }, { text: "better now" }]);
    const started = await world.start();
    const page = await openPage(started);
    await signIn(page);
    await send(page, "hello");
    const isTold = async () => {
      await log(page).getByText("The run failed.").waitFor();
      await log(page)
        .getByText(/apiKey under models\.providers/)
        .waitFor();
      await log(page).getByText("What went wrong (auth)").click();
      await log(page)
        .getByText(/invalid x-api-key/)
        .waitFor();
    };
    await isTold();
    await shot(page, "error");
    const said = (await shown(page)).filter((item) => /^(You|Agent)/.test(item));
    expect(said).toEqual(["You: hello", expect.stringMatching(/^Agent: Sorry, I could not answer/)]);
    await page.reload();
    await isTold();
    expect((await shown(page)).filter((item) => /^(You|Agent)/.test(item))).toEqual(said);
    await send(page, "again");
    await log(page).getByText("better now").waitFor();
  });

  it("stops a run", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ channels: {} }));
    world.script([
      { text: "on and on ".repeat(100), chunks: 40, fault: { kind: "stall", afterEvents: 20 } },
      { text: "yes?" },
    ]);
    const started = await world.start();
    const page = await openPage(started);
    await signIn(page);
    await send(page, "tell me a story");
    await log(page).getByText("on and on").waitFor();
    await page.getByRole("button", { name: /stop/i }).click();
    await log(page).getByText("Stopped.").waitFor();
    await send(page, "hello?");
    await log(page).getByText("yes?").waitFor();
  });

  it("survives a restart of the gateway", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const first = await world.start();
    // The page looks for the gateway where it was.
    const port = Number(new URL(first.url).port);
    world.configure(demoConfig({ gateway: { port, auth: { token: TOKEN }, logLevel: "warn" } }));
    const page = await openPage(first);
    await signIn(page);
    await send(page, "write a.txt with one");
    await log(page).getByText("Wrote a.txt.").waitFor();
    const before = lasting(await shown(page));
    await first.stop();
    await page.locator("[data-connection]").getByText("Not connected.").waitFor();
    await world.start();
    // It tries by itself, too: then the button may be gone before it is pressed.
    const pressed = page
      .getByRole("button", { name: "Reconnect now" })
      .click()
      .catch(() => {});
    const connected = expect.poll(() => page.locator("[data-connection]").textContent()).toBe("");
    await Promise.race([pressed, connected]);
    await connected;
    await expect.poll(async () => lasting(await shown(page))).toEqual(before);
    await send(page, "read a.txt");
    await log(page).getByText("one").last().waitFor();
  });
});
