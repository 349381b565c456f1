import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { BACKGROUND_MARK } from "./next-turn.ts";

/** The system ends them with their gateway, but is not done at that moment. */
const WITHIN_MS = 15_000;
const LOOK_MS = 20;

/** Commands in the background that outlive the gateway which started them, by their ids and texts; hopefully none. */
export async function commandsLeft(): Promise<readonly string[]> {
  for (const since = performance.now(); ; await sleep(LOOK_MS)) {
    const left = await running();
    if (left.length === 0 || performance.now() - since > WITHIN_MS) return left;
  }
}

function running(): Promise<readonly string[]> {
  return new Promise((resolve, reject) =>
    execFile("pgrep", ["-f", "-a", BACKGROUND_MARK], (error, text) => {
      // 1: there is none.
      if (error !== null && error.code !== 1) reject(error);
      else resolve(text.trim().split("\n").filter(Boolean));
    }),
  );
}
