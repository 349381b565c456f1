/** Unicode emoji by Slack name. */
const unicode: Readonly<Record<string, string>> = {
  "+1": "👍",
  "-1": "👎",
  "100": "💯",
  bangbang: "‼️",
  bulb: "💡",
  clap: "👏",
  cry: "😢",
  eyes: "👀",
  fire: "🔥",
  grin: "😁",
  heart: "❤️",
  heavy_check_mark: "✔️",
  hourglass_flowing_sand: "⏳",
  joy: "😂",
  memo: "📝",
  muscle: "💪",
  ok: "🆗",
  ok_hand: "👌",
  pray: "🙏",
  question: "❓",
  raised_hands: "🙌",
  robot_face: "🤖",
  rocket: "🚀",
  slightly_smiling_face: "🙂",
  smile: "😄",
  sob: "😭",
  sparkles: "✨",
  star: "⭐",
  tada: "🎉",
  thinking_face: "🤔",
  warning: "⚠️",
  wave: "👋",
  white_check_mark: "✅",
  wink: "😉",
  x: "❌",
  zap: "⚡",
};

const emojis = new Map(Object.entries(unicode));
const names = new Map([...emojis].map(([name, emoji]) => [stripVariation(emoji), name]));
const aliases = new Map([
  ["thumbsup", "+1"],
  ["thumbsdown", "-1"],
  ["thinking", "thinking_face"],
]);

/**
 * Returns the emoji for a Slack name, or `undefined` for unlisted ones such as a workspace's custom emoji.
 */
export function getEmoji(name: string): string | undefined {
  const [base = ""] = name.split("::");
  return emojis.get(aliases.get(base) ?? base);
}

/** Returns Slack's name for an emoji. A Slack name is returned unchanged. Returns `undefined` for any other emoji. */
export function getSlackName(emoji: string): string | undefined {
  const named = names.get(stripVariation(emoji));
  if (named !== undefined) return named;
  const name = emoji.replaceAll(":", "");
  return /^[a-z0-9_+'-]{1,100}$/.test(name) ? name : undefined;
}

/** Removes the variation selector of color emoji. */
function stripVariation(emoji: string): string {
  return emoji.replaceAll("\ufe0f", "");
}
