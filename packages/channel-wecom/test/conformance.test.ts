import { runChannelConformance } from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { BUILT, impatient } from "./harness.ts";
import { createHarness } from "./platform.ts";

const test = { describe, it, afterAll };
const skip = [
  {
    check: "delivers messages missed while offline, in order and once",
    reason: "no history and no redelivery; the time is reported as a gap",
  },
];

runChannelConformance(impatient, createHarness(impatient), { test, skip, print: inMatrix("wecom") });

describe("in a process of its own", () => {
  const separate = inOwnProcess(impatient, BUILT, launchLocally().launch);
  runChannelConformance(separate, createHarness(separate), { test, skip, print: () => {} });
});
