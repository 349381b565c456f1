type Env = Readonly<Record<string, string | undefined>>;

/** Returns the command with which the user runs this program, such as `npx signalbox`. */
export function getOwnCommand(env: Env): string {
  // A checkout and the image set the variable.
  const { SIGNALBOX_COMMAND: named, npm_command: npmCommand } = env;
  if (named) return named;
  return npmCommand === "exec" ? "npx signalbox" : "signalbox";
}

/** Replaces `signalbox` in the commands of a text, so that they work as printed. */
export function withOwnCommand(text: string, env: Env = process.env): string {
  const own = getOwnCommand(env);
  return text.replace(/(`|^ {2})signalbox(?= [a-z-])/gm, (_whole, before: string) => `${before}${own}`);
}
