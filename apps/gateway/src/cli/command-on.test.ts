import { locateHome } from "@signalbox/home";
import { expect, it, onTestFinished, vi } from "vitest";
import { commandOn } from "./command-on.ts";

it("names the home where a shell would take another one", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("SIGNALBOX_HOME", "/srv/signalbox");
  expect(commandOn(locateHome("/srv/signalbox/", {}), "start")).toBe("`signalbox start`");
  expect(commandOn(locateHome("/srv/other", {}), "start")).toBe("`signalbox start --home /srv/other`");
  expect(commandOn(locateHome("/srv/my home", {}), "link")).toBe("`signalbox link --home '/srv/my home'`");
});
