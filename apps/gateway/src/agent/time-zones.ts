import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import { parseIdentityLinks } from "@signalbox/routing";
import type { LiveConfig } from "../configure/live-config.ts";
import { getMachineTimeZone } from "../machine-time-zone.ts";

/** Returns a function that returns the configured time zone of a message's sender, or the machine's. */
export function createTimeZones(config: LiveConfig): (event: MessageEvent) => string {
  const identities = config.derived(({ settings }) => parseIdentityLinks(settings.session.identityLinks));
  return (event) => {
    const zones = new Map(Object.entries(config.current().settings.session.timeZones));
    const person = identities().findPerson(event.channel, event.sender.id);
    return zones.get(getSpeakerKey(event)) ?? zones.get(person ?? "") ?? getMachineTimeZone().name;
  };
}
