import type { Config } from "@signalbox/config";
import { CHATGPT_URL } from "../../configure/subscriptions/chatgpt.ts";
import type { SubscriptionStore } from "../../configure/subscriptions/credentials.ts";
import { MAY_END } from "../../configure/subscriptions/problems.ts";
import type { Finding } from "./finding.ts";

/** Reports the sign-in state of each provider that uses a subscription. */
export async function checkSubscriptions(
  { models }: Config,
  store: Pick<SubscriptionStore, "get">,
): Promise<Finding[]> {
  const providers = Object.entries(models.providers).filter(
    ([, { subscription }]) => subscription !== undefined,
  );
  return Promise.all(
    providers.map(async ([name, { baseUrl = CHATGPT_URL }]): Promise<Finding> => {
      const part = `subscription ${name}`;
      if ((await store.get(name, baseUrl)) === undefined)
        return {
          part,
          state: "error",
          detail: "nobody has signed in",
          remedy: `Run \`signalbox models login ${name}\` on this machine.`,
        };
      return { part, state: "ok", detail: `signed in. ${MAY_END}` };
    }),
  );
}
