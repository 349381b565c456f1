import { type MessageEvent, speakerOf } from "@signalbox/channel";
import { readIdentityLinks } from "@signalbox/routing";
import type { LiveSetup } from "../configure/live-setup.ts";

/** The time zone in which people are told the time: the configured one, else the machine's. */
export function createTimeZones(
  configuration: Pick<LiveSetup, "config" | "derived">,
): (event: MessageEvent) => string {
  const identities = configuration.derived(({ loaded }) =>
    readIdentityLinks(loaded.config.session.identityLinks),
  );
  const ofMachine = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (event) => {
    const zones = new Map(Object.entries(configuration.config().session.timeZones));
    const person = identities.personOf(event.channel, event.sender.id);
    return zones.get(speakerOf(event)) ?? zones.get(person ?? "") ?? ofMachine;
  };
}
