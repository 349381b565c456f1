/** Whether one of two places of the configuration, as `agents.list[0].model`, is the other or holds it. */
export function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(place: string, whole: string): boolean {
  return place === whole || place.startsWith(`${whole}.`) || place.startsWith(`${whole}[`);
}
