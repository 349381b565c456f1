/** Slack's names of the emoji that people react with, and what stands for each in Unicode. */
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
const names = new Map([...emojis].map(([name, emoji]) => [plain(emoji), name]));
const aliases = new Map([
  ["thumbsup", "+1"],
  ["thumbsdown", "-1"],
  ["thinking", "thinking_face"],
]);

/** The emoji of one of Slack's names; undefined for one that is not listed here, such as a workspace's own. */
export function unicodeOf(name: string): string | undefined {
  const [base = ""] = name.split("::");
  return emojis.get(aliases.get(base) ?? base);
}

/** Slack's name of an emoji, or of what is one of its names already. Undefined where there is none. */
export function nameOf(emoji: string): string | undefined {
  const named = names.get(plain(emoji));
  if (named !== undefined) return named;
  const name = emoji.replaceAll(":", "");
  return /^[a-z0-9_+'-]{1,100}$/.test(name) ? name : undefined;
}

/** Without the sign that asks for colour. */
function plain(emoji: string): string {
  return emoji.replaceAll("\ufe0f", "");
}
