import type { RecordedPayload } from "@signalbox/channel/testkit";
import { events } from "./recorded-events.ts";
import { interactions } from "./recorded-interactions.ts";
import { messages } from "./recorded-messages.ts";

/** One payload of each kind from Slack's reference, with the expected events. */
export const recorded: readonly RecordedPayload[] = [...messages, ...events, ...interactions];
