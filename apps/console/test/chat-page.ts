/** Opens the chat page in Chromium against a fake gateway that each test scripts. */
import type { ServerFrame } from "@signalbox/protocol";
import type { Browser, Locator, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, expect } from "vitest";
import { connect, developmentPage, keepShot, SHIPPED, whyNot } from "./chromium.ts";
import { type Visit, visit } from "./signed-in.ts";
import { type StubGateway, startStubGateway, TOKEN } from "./stub-gateway.ts";

/** Reason to skip these tests, or undefined. */
export const missing: string | undefined = whyNot();
if (missing !== undefined) console.log(`The page is not tested: ${missing}.`);

export interface ChatPage {
  readonly page: Page;
  readonly gateway: StubGateway;
  /** Requested URLs. */
  readonly requested: readonly string[];
  /** The messages of the conversation. */
  log(): Locator;
  /** The input for messages. */
  message(): Locator;
  signIn(path?: string): Promise<void>;
  signOut(): Promise<void>;
  send(text: string): Promise<void>;
  /** Id of the conversation of the last message. */
  current(): { conversation: string; runId: string };
  reply(id: string, text: string): ServerFrame;
  calls(id: string, name: string, args: unknown): ServerFrame;
  called(id: string, text: string, isError: boolean, durationMs: number): ServerFrame;
  /** Resolves when the gateway receives a frame of this type. */
  received(type: string): Promise<void>;
  shot(name: string): Promise<void>;
}

/**
 * Opens a page for each test of a suite in one browser, each with its own gateway. Fails a test if the browser or React
 * logs an error. Uses React's development build, except in tests of the page "as it is shipped".
 */
export function chatPage(): ChatPage {
  let browser: Browser;
  let built: Record<"production" | "development", string>;
  let gateway: StubGateway;
  let visitor: Visit;

  beforeAll(async () => {
    if (missing !== undefined) return;
    built = { development: await developmentPage(), production: SHIPPED };
    browser = await connect();
  });
  beforeEach(async ({ task }) => {
    const mode = task.name.includes("as it is shipped") ? "production" : "development";
    gateway = await startStubGateway(built[mode]);
    visitor = await visit(browser);
  });
  afterEach(async () => {
    const own = new URL(gateway.url).host;
    expect(visitor.requested.filter((url) => new URL(url).host !== own)).toEqual([]);
    expect(visitor.violations).toEqual([]);
    await visitor.context.close();
    await gateway.stop();
  });

  const chat: ChatPage = {
    get page() {
      return visitor.page;
    },
    get gateway() {
      return gateway;
    },
    get requested() {
      return visitor.requested;
    },
    log: () => visitor.page.getByRole("log"),
    message: () => visitor.page.getByRole("textbox", { name: /^Message / }),
    async signIn(path = "/") {
      await visitor.page.goto(gateway.url + path);
      await visitor.page.getByLabel("Gateway token").fill(TOKEN);
      await visitor.page.getByRole("button", { name: "Sign in" }).click();
      await chat.message().waitFor();
    },
    async signOut() {
      await visitor.page.getByRole("button", { name: /Account and settings/ }).click();
      await visitor.page.getByRole("menuitem", { name: "Sign out" }).click();
    },
    async send(text) {
      await chat.message().fill(text);
      await chat.message().press("Enter");
    },
    current() {
      const send = gateway.received.findLast((frame) => frame.type === "send");
      if (send?.type !== "send") throw new Error("nothing was sent");
      return { conversation: send.conversation, runId: "r1" };
    },
    reply(id, text) {
      const { conversation, runId } = chat.current();
      return { type: "message", conversation, message: { id, role: "assistant", text, at: 1, runId } };
    },
    calls: (id, name, args) => ({ type: "tool.start", ...chat.current(), call: { id, name, args } }),
    called: (id, text, isError, durationMs) => ({
      type: "tool.end",
      ...chat.current(),
      call: { id, name: "", isError, text, durationMs },
    }),
    async received(type) {
      await expect.poll(() => gateway.received.some((frame) => frame.type === type)).toBe(true);
    },
    shot: (name) => keepShot(visitor.page, name),
  };
  return chat;
}
