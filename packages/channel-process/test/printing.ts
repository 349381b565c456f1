/** A channel that prints to stdout and stderr, and logs more entries than the gateway accepts. */
import process from "node:process";
import { silentChannel } from "./silent-channel.ts";

export default silentChannel("printing", async ({ logger }) => {
  for (let entry = 0; entry < 1_000; entry++) logger.info(`entry ${entry}`);
  logger.error("the last entry");
  process.stderr.write("Error: something broke\n    at the second line\n");
  process.stdout.write(`proxy ${process.env.https_proxy}, home ${process.env.HOME}\n`);
});
