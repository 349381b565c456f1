/** Ways to run the command line, with the text that replaces `signalbox`. */
const VARIANTS = [
  { label: "npm", command: "npx signalbox" },
  { label: "checkout", command: "npm run signalbox --" },
  { label: "Docker", command: "docker compose exec signalbox signalbox" },
] as const;

const SHELL_BLOCK = /^```sh\n([\s\S]*?)^```$/gm;
/** `signalbox`, also as `npx signalbox` or `npm run signalbox --`, at the beginning of a command. */
const INVOCATION = /(^|&& |\| |\(|=)(?:npx |npm run )?signalbox(?: --(?= ))?(?= )/gm;
/** Blocks that install packages or run other npm scripts work with one variant only. */
const FIXED = /\bnpm (?:install|init|start|test|run (?!signalbox))|\bnpx (?!signalbox)|docker/;

/**
 * Replaces each shell block that calls `signalbox` with tabs for npm, a checkout and Docker. A block that already is
 * in a code group remains unchanged.
 */
export function addCommandTabs(markdown: string): string {
  const groups = [...markdown.matchAll(/^::: code-group$[\s\S]*?^:::$/gm)].map((match): [number, number] => [
    match.index,
    match.index + match[0].length,
  ]);
  return markdown.replace(SHELL_BLOCK, (whole, text: string, at: number) => {
    const isGrouped = groups.some(([start, end]) => at > start && at < end);
    if (isGrouped || FIXED.test(text) || text.search(INVOCATION) < 0) return whole;
    const tabs = VARIANTS.filter(({ label }) => label !== "Docker" || !/signalbox service /.test(text)).map(
      ({ label, command }) => `\`\`\`sh [${label}]\n${adapt(text, command)}\`\`\``,
    );
    return `::: code-group\n${tabs.join("\n")}\n:::`;
  });
}

function adapt(text: string, command: string): string {
  const adapted = text.replace(INVOCATION, (_, before: string) => `${before}${command}`);
  if (!command.startsWith("docker")) return adapted;
  return adapted
    .replaceAll(`${command} start`, "docker compose up -d")
    .replaceAll(`${command} init`, "docker compose run --rm signalbox init");
}
