/** Feishu's emoji types that have a Unicode emoji. Source: the open platform's list of emoji types. */
const emoji: Readonly<Record<string, string>> = {
  THUMBSUP: "👍",
  ThumbsDown: "👎",
  HEART: "❤️",
  OK: "👌",
  DONE: "✅",
  CheckMark: "✔️",
  CrossMark: "❌",
  APPLAUSE: "👏",
  CLAP: "👏",
  FISTBUMP: "👊",
  MUSCLE: "💪",
  PRAISE: "🙌",
  JIAYI: "➕",
  SMILE: "🙂",
  LAUGH: "😄",
  LOL: "😂",
  JOYFUL: "😁",
  LOVE: "😍",
  WOW: "😮",
  CRY: "😭",
  SOB: "😭",
  ANGRY: "😠",
  THINKING: "🤔",
  PARTY: "🎉",
  Fire: "🔥",
  EYES: "👀",
  ROSE: "🌹",
  BEER: "🍺",
  CAKE: "🎂",
  GIFT: "🎁",
  BOMB: "💣",
  TROPHY: "🏆",
  Hundred: "💯",
};

const types = new Map(Object.entries(emoji).map(([type, symbol]) => [plain(symbol), type]));

function plain(symbol: string): string {
  return symbol.replace(/\ufe0f/g, "");
}

/** Returns the Unicode emoji for one of Feishu's types, or the type itself if there is none. */
export function emojiOf(type: string): string {
  return emoji[type] ?? type;
}

/** Returns Feishu's type for an emoji, or `undefined` if there is none. A type is returned unchanged. */
export function emojiType(symbol: string): string | undefined {
  return types.get(plain(symbol)) ?? (/^[A-Za-z0-9_]+$/.test(symbol) ? symbol : undefined);
}
