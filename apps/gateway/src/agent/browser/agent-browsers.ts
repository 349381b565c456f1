import { findBrowserPrograms } from "../../configure/browser-programs.ts";
import { INSTALLED } from "../../configure/installed.ts";
import type { CoreContext } from "../../core-context.ts";
import { VERSION } from "../../version.ts";
import { type Browsers, createBrowsers } from "./browsers.ts";

/** Creates the browsers of a gateway's agents. */
export function createAgentBrowsers({ options, config, logger, now }: CoreContext): Browsers {
  return createBrowsers({
    dir: options.home.browsersDir,
    settings() {
      const { browser } = config.current().settings.tools;
      return browser.enabled ? browser : undefined;
    },
    findPrograms: () =>
      findBrowserPrograms(config.current().settings, { home: options.home, packages: INSTALLED }),
    egress: options.browserEgress,
    version: VERSION,
    logger,
    now,
  });
}
