import { startSandbox } from "@signalbox/tools";

const { rung, reason } = await startSandbox();

/** Why no command can run on this machine, for the tests that are skipped without; undefined where they can. */
export const noCommands: string | undefined = rung === "bubblewrap" ? undefined : `commands, since ${reason}`;
