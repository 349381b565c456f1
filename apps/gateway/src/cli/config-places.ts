/** Returns true if two configuration paths, such as `agents.list[0].model`, are equal or one contains the other. */
export function overlap(one: string, other: string): boolean {
  return isWithin(one, other) || isWithin(other, one);
}

function isWithin(place: string, whole: string): boolean {
  return place === whole || place.startsWith(`${whole}.`) || place.startsWith(`${whole}[`);
}
