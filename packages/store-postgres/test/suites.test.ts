import { storeSuites } from "@signalbox/store/testkit";
import { expect, onTestFinished } from "vitest";
import { openEmpty, test } from "./support.ts";

storeSuites({
  test,
  expect,
  async open(options) {
    const { store, time } = await openEmpty(options);
    onTestFinished(() => store.close());
    return { store, time };
  },
});
