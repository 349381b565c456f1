import type { Concerned } from "../facts.ts";

/** A sender, as `access` names it. */
export const person = ({ channel, sender }: Concerned): string => `"${channel}:${sender}"`;
/** A conversation, as `access` names it. */
export const group = ({ channel, conversation }: Concerned): string => `"${channel}:${conversation}"`;
