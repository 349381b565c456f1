import { reasonOf } from "@signalbox/agent-core";
import type { Home } from "@signalbox/home";
import { canInstallService, installService } from "../commands/service.ts";
import type { Asker } from "./asker.ts";

/** Result of the service step. */
export type ServiceOutcome =
  | { readonly started: true; readonly file: string }
  | { readonly started: false; readonly failure: string };

/** Last step: offers to install the gateway as a service. A failure does not undo the setup. */
export async function serviceStep(
  home: Home,
  program: string,
  asker: Asker,
  wanted: boolean | "ask",
): Promise<ServiceOutcome | undefined> {
  const agreed =
    wanted === "ask"
      ? (await canInstallService()) &&
        (await asker.confirm("Start the gateway now and whenever this machine starts?"))
      : wanted;
  if (!agreed) return undefined;
  try {
    const { file, failure, notes } = await installService(home, program);
    for (const note of notes) asker.say(note);
    return failure === undefined ? { started: true, file } : { started: false, failure };
  } catch (error) {
    return { started: false, failure: reasonOf(error) };
  }
}
