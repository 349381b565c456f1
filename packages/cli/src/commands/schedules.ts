import { listWakes } from "@signalbox/wakes";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { printTable, short, time } from "../table.ts";

const TEXT_CHARS = 60;

/** `signalbox schedules`: what agents are to do by themselves. */
export async function schedules(options: CommonOptions): Promise<void> {
  const wakes = await withStore(options, "read", ({ kv }) => listWakes(kv));
  printTable(options.json, wakes, {
    none: "Nothing is scheduled. An agent that has the tool `cron` schedules what it is asked to.",
    columns: {
      ID: ({ id }) => id,
      NEXT: ({ nextAt }) => time(nextAt),
      WHEN: ({ when }) => when,
      AGENT: ({ agent }) => agent,
      SESSION: ({ session = "" }) => short(session, 40),
      TEXT: ({ text }) => short(text, TEXT_CHARS),
    },
  });
}
