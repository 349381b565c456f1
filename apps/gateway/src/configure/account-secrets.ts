import type { ChannelDefinition } from "@signalbox/channel";

/** Returns the values of the fields that a channel declares as secret, including invalid values. */
export function secretFields({ meta }: ChannelDefinition, raw: Readonly<Record<string, unknown>>): string[] {
  const fields = Object.entries(meta.fields).filter(([, { secret }]) => secret === true);
  return fields.flatMap(([name]) => textsIn(raw[name]));
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];
}
