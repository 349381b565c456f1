import type { SetupChannel, SetupStep } from "@signalbox/client";

/** The entered settings of an account by name. */
export type Entered = Readonly<Record<string, string>>;

/** Returns true if a step applies to the entered settings. The default of a choice is its first option. */
export function applies({ when = {} }: SetupStep, { fields }: SetupChannel, entered: Entered): boolean {
  return Object.entries(when).every(([name, value]) => {
    const field = fields.find((each) => each.name === name);
    const isEntered = (entered[name] ?? "") !== "";
    return (isEntered ? entered[name] : (field?.options?.[0]?.value ?? "")) === value;
  });
}

/**
 * Returns the settings to send: those of the steps that apply, in which a choice has its first option by default, and
 * those of fields without a step.
 */
export function getSettings(channel: SetupChannel, entered: Entered): Record<string, string> {
  const { fields, steps } = channel;
  const inSteps = new Set(steps.flatMap((step) => step.fields));
  const shown = new Set(
    steps.filter((step) => applies(step, channel, entered)).flatMap((step) => step.fields),
  );
  const settings = fields.map(({ name, options }): [string, string] => {
    const value = (entered[name] ?? "").trim();
    if (!inSteps.has(name)) return [name, value];
    if (!shown.has(name)) return [name, ""];
    return [name, value === "" ? (options?.[0]?.value ?? "") : value];
  });
  return Object.fromEntries(settings.filter(([, value]) => value !== ""));
}
