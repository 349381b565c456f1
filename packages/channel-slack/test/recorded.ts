import type { Recorded } from "@signalbox/channel/testkit";
import { events } from "./recorded-events.ts";
import { interactions } from "./recorded-interactions.ts";
import { messages } from "./recorded-messages.ts";

/** Payloads in the form of Slack's reference, one for each kind, and what they mean. */
export const recorded: readonly Recorded[] = [...messages, ...events, ...interactions];
