import type { ChannelDefinition } from "@signalbox/channel";
import { GatewayError } from "@signalbox/home";
import { accountStep } from "./account-step.ts";
import type { InitOptions, Step } from "./step.ts";

/** Asks for a channel and configures an account of it. */
export async function channelStep(
  step: Step,
  options: InitOptions,
  definitions: readonly ChannelDefinition[],
): Promise<boolean> {
  const { asker, progress } = step;
  const id = await asker.choose({
    message: "Where will people talk to it, besides the web page?",
    given: options.channel,
    initial: (asker.asksPerson ? progress.channel : undefined) ?? "none",
    options: [
      ...definitions.map(({ id: value, meta: { label } }) => ({ value, label })),
      { value: "none", label: "Nowhere yet" },
    ],
  });
  const definition = definitions.find((one) => one.id === id);
  if (definition !== undefined) await accountStep(step, options, definition);
  else if (options.set !== undefined || options.owner !== undefined)
    throw new GatewayError(
      "usage",
      `${options.set === undefined ? "--owner" : "--set"} needs a channel: add --channel.`,
    );
  return asker.asksPerson && options.channel === undefined;
}
