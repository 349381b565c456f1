import { after, describe, it } from "node:test";
import { runChannelConformance } from "@signalbox/channel/testkit";
import channel from "../src/index.ts";
import { harness } from "./harness.ts";

// Checks of capabilities that the channel does not claim do not apply. If another check cannot pass on your platform,
// add it to `skip` with the reason, which appears in the printed matrix.
runChannelConformance(channel, harness, {
  test: { describe, it: (name, body) => void it(name, body), afterAll: after },
});
