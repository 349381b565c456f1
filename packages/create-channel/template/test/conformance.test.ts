import { after, describe, it } from "node:test";
import { runChannelConformance } from "@signalbox/channel/testkit";
import channel from "../src/index.ts";
import { harness } from "./harness.ts";

// What the capabilities rule out is not tested. For anything else that cannot hold on your platform name the test and
// the reason in `skip`: both stand in the matrix that is printed.
runChannelConformance(channel, harness, {
  test: { describe, it: (name, body) => void it(name, body), afterAll: after },
});
