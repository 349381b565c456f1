/** The package of a channel that says that it is ready before it has started. */
import { silentChannel } from "./silent-channel.ts";

/** Ends the start of each account, in their order. */
export const starts: (() => void)[] = [];

export default silentChannel("ready-early", () => new Promise((resolve) => starts.push(resolve)));
