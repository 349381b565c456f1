import type { ChannelContext } from "@signalbox/channel";
import {
  openChannel,
  type RunningChannel,
  serveWebhook,
  type WebhookServer,
} from "@signalbox/channel/testkit";
import { type FakeWhatsApp, startWhatsApp, type WhatsAppOptions } from "@signalbox/testkit/whatsapp";
import { expect } from "vitest";
import { type WhatsAppAddress, type WhatsAppConfig, whatsapp } from "../src/index.ts";
import { findViolations } from "./spec.ts";

export const credentials = {
  accessToken: "EAAG-token-of-the-system-user",
  appSecret: "0123456789abcdef-secret-of-the-app",
  verifyToken: "token-for-the-challenge",
};

/** The module that a separate process loads. */
export const BUILT = new URL("../dist/index.js", import.meta.url).href;

/** A running channel, subscribed to its fake server. */
export interface Bench extends RunningChannel<WhatsAppAddress> {
  readonly fakeServer: FakeWhatsApp;
}

export interface BenchOptions extends Partial<WhatsAppOptions> {
  readonly context?: Partial<ChannelContext<WhatsAppConfig>>;
  /** Reuses a running fake server. */
  readonly fakeServer?: FakeWhatsApp;
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const { context = {}, fakeServer: earlier, ...serverOptions } = options;
  const fakeServer = earlier ?? (await startWhatsApp({ ...credentials, ...serverOptions }));
  const settings = {
    ...credentials,
    phoneNumberId: fakeServer.phoneNumberId,
    apiBaseUrl: fakeServer.url,
  };
  let gateway: WebhookServer | undefined;
  const running = await openChannel(whatsapp, settings, {
    context,
    close: async () => {
      if (earlier === undefined) await fakeServer.stop();
      await gateway?.stop();
      expect(findViolations(fakeServer)).toEqual([]);
    },
  });
  gateway = await serveWebhook(running.channel);
  if (!(await fakeServer.subscribe(`${gateway.url}/events`)))
    throw new Error("The channel did not answer the challenge.");
  return Object.assign(running, { fakeServer });
}

/** Posts a signed webhook directly to the channel. Returns the status. */
export async function post({ channel, fakeServer }: Bench, payload: unknown): Promise<number> {
  const request = new Request("http://gateway/events", fakeServer.sign(payload));
  return (await channel.webhook?.(request))?.status ?? 0;
}

export { createAdjustableClock, never } from "@signalbox/channel/testkit";
