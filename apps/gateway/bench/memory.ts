import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeHome, removeHome } from "./gateway-process.ts";
import { row, spread } from "./report.ts";
import { configFor, feishuAccount, type Setup } from "./setup.ts";
import { sideBySide } from "./side-by-side.ts";

const DAYS = 365;
const FLOOR = "without memory";

/** What a year of notes costs a gateway that starts and rests, beside the same one that remembers nothing. */
export async function measureMemory(setup: Setup): Promise<void> {
  const [remembering, forgetful] = [homeWithNotes(setup, true), homeWithNotes(setup, false)];
  try {
    const { ours, floor } = await sideBySide(
      setup.port,
      { home: remembering, accounts: 1 },
      { home: forgetful, accounts: 1 },
    );
    const [readyMs, idleMb] = [spread(floor.readyMs), spread(floor.idleMb)];
    row({
      name: "with memory: start to /readyz, ms",
      ours: spread(ours.readyMs),
      floor: { name: FLOOR, value: readyMs },
      marks: [{ atMost: 1.1 * readyMs.median }],
    });
    row({
      name: "with memory: idle memory, MB",
      ours: spread(ours.idleMb),
      floor: { name: FLOOR, value: idleMb },
      marks: [{ atMost: idleMb.median + 10 }],
    });
  } finally {
    removeHome(remembering);
    removeHome(forgetful);
  }
}

function homeWithNotes(setup: Setup, enabled: boolean): string {
  const home = makeHome(configFor(setup, { feishu: feishuAccount(setup) }, { memory: { enabled } }));
  const notes = join(home, "workspaces", "main", "memory");
  mkdirSync(notes, { recursive: true });
  for (let day = 0; day < DAYS; day++) {
    const date = new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
    writeFileSync(
      join(notes, `${date}.md`),
      `# ${date}\n\n- The ${day}th delivery came at noon.\n`.repeat(10),
    );
  }
  return home;
}
