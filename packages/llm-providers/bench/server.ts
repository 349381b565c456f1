// The stand-in in a process of its own, so that its work is not counted.
import { startAnthropic } from "@signalbox/testkit/anthropic";
import { planOf, turnOf } from "./plan.ts";

const plans = new Map<string, ReturnType<typeof planOf>>();

const standIn = await startAnthropic({
  check: false,
  script(request) {
    const text = JSON.stringify(request);
    const from = text.indexOf("@@");
    const mark = text.slice(from, text.indexOf("@@", from + 2) + 2);
    let plan = plans.get(mark);
    if (plan === undefined) {
      plan = planOf(mark);
      plans.set(mark, plan);
    }
    const answered =
      plan.kind === "text" || plan.kind === "paced" ? 0 : text.split('"tool_result"').length - 1;
    return turnOf(plan, answered);
  },
});
process.send?.(standIn.url);
process.on("disconnect", () => process.exit(0));
