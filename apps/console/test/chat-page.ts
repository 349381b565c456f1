/** Opens the chat page in Chromium against a fake gateway that each test scripts. */
import type { ServerFrame } from "@signalbox/protocol";
import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { keepShot, SHIPPED, whyNot } from "./chromium.ts";
import { shareVisit } from "./shared-visit.ts";
import type { StubGateway } from "./stub-gateway.ts";

/** Reason to skip these tests, or undefined. */
export const missing: string | undefined = whyNot();
if (missing !== undefined) console.log(`The page is not tested: ${missing}.`);

export interface ChatPage {
  readonly page: Page;
  readonly gateway: StubGateway;
  /** Requested URLs. */
  readonly requested: readonly string[];
  /** Serves the production build in this test. */
  useShippedPage(): void;
  /** Continues the test in a browser context of its own. */
  useOwnContext(): Promise<void>;
  /** The messages of the conversation. */
  log(): Locator;
  /** The input for messages. */
  message(): Locator;
  /** Opens the chat. Signs in unless the browser already is. */
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
 * Opens the chat for the tests of a file, as {@link shareVisit} describes. Uses React's development build unless a test
 * calls `useShippedPage`.
 */
export function chatPage(options: { readonly isSignedOut?: boolean } = {}): ChatPage {
  const shared = shareVisit({ missing, ...options });
  const chat: ChatPage = {
    get page() {
      return shared.page;
    },
    get gateway() {
      return shared.gateway;
    },
    get requested() {
      return shared.requested;
    },
    useShippedPage() {
      shared.gateway.folder = SHIPPED;
    },
    useOwnContext: () => shared.visitAgain(),
    log: () => shared.page.getByRole("log"),
    message: () => shared.page.getByRole("textbox", { name: /^Message / }),
    async signIn(path = "/") {
      await shared.open(path);
      await chat.message().waitFor();
    },
    async signOut() {
      await shared.page.getByRole("button", { name: /Account and settings/ }).click();
      await shared.page.getByRole("menuitem", { name: "Sign out" }).click();
    },
    async send(text) {
      await chat.message().fill(text);
      await chat.message().press("Enter");
    },
    current() {
      const send = chat.gateway.received.findLast((frame) => frame.type === "send");
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
      await expect.poll(() => chat.gateway.received.some((frame) => frame.type === type)).toBe(true);
    },
    shot: (name) => keepShot(shared.page, name),
  };
  return chat;
}
