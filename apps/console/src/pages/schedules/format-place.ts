import type { ScheduleInfo } from "@signalbox/client";

/** Formats the conversation in which the answers of a schedule appear: its name, or its id, and the platform. */
export function formatPlace(place: ScheduleInfo["place"], page: string): string {
  if (place === undefined) return "–";
  const { channel, id, name = id } = place;
  return `${name} · ${channel === "web" ? page : channel}`;
}
