import { locateHome } from "@signalbox/home";
import { expect, it, onTestFinished, vi } from "vitest";
import { formatCommand } from "./format-command.ts";

it("names the home where a shell would take another one", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("SIGNALBOX_HOME", "/srv/signalbox");
  expect(formatCommand(locateHome("/srv/signalbox/", {}), "start")).toBe("`signalbox start`");
  expect(formatCommand(locateHome("/srv/other", {}), "start")).toBe("`signalbox start --home /srv/other`");
  expect(formatCommand(locateHome("/srv/my home", {}), "link")).toBe(
    "`signalbox link --home '/srv/my home'`",
  );
});
