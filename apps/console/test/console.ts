/** Opens the pages for owners in Chromium against a fake gateway. */
import { whyNot } from "./chromium.ts";
import { OWNERS } from "./data/owners.ts";
import type { Routes } from "./routes.ts";
import { type SharedVisit, shareVisit } from "./shared-visit.ts";

/** Reason to skip the tests in a browser, or undefined. */
export const missing: string | undefined = whyNot();
if (missing !== undefined) console.log(`The pages are not tested: ${missing}.`);

export interface OwnersConsole extends SharedVisit {
  /** Opens a page for an owner, for instance `/usage`. */
  open(path: string, routes?: Routes): Promise<void>;
}

/** Opens the console for the tests of a file, as {@link shareVisit} describes. */
export function ownersConsole(): OwnersConsole {
  const shared = shareVisit({
    missing,
    prepare: (gateway) => {
      gateway.owners = structuredClone(OWNERS.full);
    },
  });
  return {
    get page() {
      return shared.page;
    },
    get gateway() {
      return shared.gateway;
    },
    get requested() {
      return shared.requested;
    },
    visitAgain: shared.visitAgain,
    async open(path, routes = {}) {
      const { gateway } = shared;
      gateway.routes = { ...gateway.routes, ...routes };
      await shared.open(`/#${path}`);
    },
  };
}
