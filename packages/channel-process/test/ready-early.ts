/** A channel that reports that it is ready before it has started. */
import { silentChannel } from "./silent-channel.ts";

/** Functions that end the starts of the accounts, in order. */
export const starts: (() => void)[] = [];

export default silentChannel("ready-early", () => new Promise((resolve) => starts.push(resolve)));
