import type { Concerned } from "../facts.ts";

/** Returns the name of a sender in `access`. */
export const person = ({ channel, sender }: Concerned): string => `"${channel}:${sender}"`;
/** Returns the name of a conversation in `access`. */
export const group = ({ channel, conversation }: Concerned): string => `"${channel}:${conversation}"`;
